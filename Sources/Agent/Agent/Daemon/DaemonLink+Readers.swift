import Bus
import EventLoop
import Journal
import Names

/// The daemon's properties: they decide whether the display has to be watched.
extension DaemonLink {
  private static let properties = "org.freedesktop.DBus.Properties"
  /// How often the properties are read if signals keep arriving meanwhile. The signals carry the same values.
  private static let maximumReadings = 8

  /// Subscribes to changes of the daemon's properties.
  func followReaders() async throws(BusError) {
    let signals = try await connection.signals(
      MatchRule(
        sender: Names.Daemon.busName, path: try ObjectPath(Names.Daemon.path), interface: Self.properties,
        member: "PropertiesChanged"))
    Task { [weak self] in
      for await signal in signals { await self?.propertiesChanged(signal) }
    }
  }

  private func propertiesChanged(_ signal: ReceivedSignal) async {
    guard signal.sender == owner, signal.arguments.first?.asString == Names.Daemon.managerInterface else { return }
    propertySignals += 1
    await update(signal.arguments.dropFirst().first?.asDictionary ?? [:])
    if signal.missed > 0 { await readReaders() }
  }

  /// Reads the daemon's properties once it has accepted this agent, and forgets them when it is gone.
  func watchReaders() async {
    guard registration.isRegistered else {
      displayWatch = DisplayWatch()
      return await updateDisplay()
    }
    reading = Task {
      await readReaders()
      displayWatch.isRegistered = registration.isRegistered
      await updateDisplay()
    }
  }

  private func readReaders() async {
    guard let owner, let path = try? ObjectPath(Names.Daemon.path) else { return }
    for _ in 0..<Self.maximumReadings {
      let before = propertySignals
      let reply = try? await connection.call(
        owner, path, Self.properties, "GetAll", [.string(Names.Daemon.managerInterface)], timeout: .seconds(5),
        autoStart: false)
      guard self.owner == owner else { return }
      logDifference(reply?.first?.asDictionary ?? [:])
      // A signal that arrived before the reply is newer.
      if propertySignals == before { return await update(reply?.first?.asDictionary ?? [:]) }
    }
  }

  private func update(_ values: [String: Value]) async {
    if let reasons = values["SuspendReasons"]?.asStrings { displayWatch.reasons = Set(reasons) }
    if let readers = values["Readers"]?.asObjectPaths { displayWatch.readers = readers.count }
    await updateDisplay()
  }

  /// The options of `RegisterAgent`. A daemon ignores keys that it does not know.
  static func options(_ report: DaemonRegistration.Report) -> [String: Value] {
    [
      Names.Registration.conditions: .booleans(report.values), Names.Registration.version: .string(Names.version),
      Names.Registration.interfaceVersion: .uint32(Names.interfaceVersion),
    ]
  }

  /// Logs once that the daemon has another version, and what to restart. Tags work all the same.
  private func logDifference(_ properties: [String: Value]) {
    guard let version = properties["Version"]?.asString else { return }
    let difference = RunningProgram.daemon.difference(version: version)
    defer { loggedDifference = difference }
    guard let difference, difference != loggedDifference else { return }
    log(
      .notice,
      difference.notice(
        interfaceVersion: properties["InterfaceVersion"]?.asUInt32, to: .agent,
        hasSystemd: SystemDirectories().hasSystemd))
  }

  private func updateDisplay() async {
    let isNeeded = displayWatch.isNeeded
    guard isNeeded != isDisplayNeeded else { return }
    isDisplayNeeded = isNeeded
    await notify(self, .displayNeeded(isNeeded))
  }
}
