import Bus
import EventLoop
import Journal
import Names

/// What the daemon says of its readers, which decides whether the display has to be looked at.
extension DaemonLink {
  private static let properties = "org.freedesktop.DBus.Properties"
  /// A daemon that goes on talking is asked no more: its signals say it all.
  private static let readings = 8

  /// Begins to follow the daemon's properties.
  ///
  /// - Throws: `BusError` where the bus takes no match.
  func followReaders() async throws(BusError) {
    let signals = try await connection.signals(
      MatchRule(
        sender: Names.Daemon.busName, path: try ObjectPath(Names.Daemon.path), interface: Self.properties,
        member: "PropertiesChanged"))
    Task { [weak self] in
      for await signal in signals { await self?.hear(signal) }
    }
  }

  private func hear(_ signal: ReceivedSignal) async {
    guard signal.sender == owner, signal.arguments.first?.asString == Names.Daemon.managerInterface else { return }
    changes += 1
    await takeIn(signal.arguments.dropFirst().first?.asDictionary ?? [:])
    if signal.missed > 0 { await readReaders() }
  }

  /// Asks for what no signal has told.
  func readReaders() async {
    guard let owner, let path = try? ObjectPath(Names.Daemon.path) else { return }
    for _ in 0..<Self.readings {
      let before = changes
      let reply = try? await connection.call(
        owner, path, Self.properties, "GetAll", [.string(Names.Daemon.managerInterface)], timeout: .seconds(5),
        autoStart: false)
      guard self.owner == owner else { return }
      note(reply?.first?.asDictionary ?? [:])
      // A signal that has overtaken the answer is newer.
      if changes == before { return await takeIn(reply?.first?.asDictionary ?? [:]) }
    }
  }

  private func takeIn(_ values: [String: Value]) async {
    if let reasons = values["SuspendReasons"]?.asStrings { question.reasons = Set(reasons) }
    if let readers = values["Readers"]?.asObjectPaths { question.readers = readers.count }
    await tellOfDisplay()
  }

  /// What this agent says of itself to the daemon; a daemon ignores what it does not know.
  static func registration(_ conditions: [String: Bool]) -> [String: Value] {
    [
      Names.Registration.conditions: .booleans(conditions), Names.Registration.version: .string(Names.version),
      Names.Registration.interfaceVersion: .uint32(Names.interfaceVersion),
    ]
  }

  /// Says once of a daemon of another version that it is one: tags go on as before, and what is new waits for a restart.
  private func note(_ properties: [String: Value]) {
    guard let version = properties["Version"]?.asString else { return }
    let difference = RunningProgram.daemon.difference(version: version)
    defer { notedDifference = difference }
    guard let difference, difference != notedDifference else { return }
    log(
      .notice,
      difference.notice(
        interfaceVersion: properties["InterfaceVersion"]?.asUInt32, to: .agent,
        hasSystemd: SystemDirectories().hasSystemd))
  }

  func tellOfDisplay() async {
    let isOpen = question.isOpen
    guard isOpen != isDisplayWanted else { return }
    isDisplayWanted = isOpen
    await displayIsWanted(isOpen)
  }
}
