import Bus
import Configuration
import EventLoop
import Glibc
import KeyFile
import Names
import TagrouteClient

extension Examination {
  /// Looks at everything, and changes nothing; what the buses can start, they may start by being asked.
  ///
  /// - Parameters:
  ///   - directories: where the kernel shows what is loaded.
  ///   - loop: what the connections live on.
  /// - Returns: what there is to see; what cannot be asked is in it as that.
  static func make(_ directories: SystemDirectories = SystemDirectories(), on loop: EventLoop) async -> Examination {
    var seen = Examination()
    seen.kernelModules = ["pn533_usb", "pn533"].filter { access("\(directories.kernel)/module/\($0)", F_OK) == 0 }
    seen.hasPCSCD = access("\(Names.Files.runtimeDirectory(ProcessEnvironment.current))/pcscd/pcscd.comm", F_OK) == 0
    seen.configuration = mistake { () throws(KeyFileError) in
      _ = try DaemonConfiguration.load(DaemonConfiguration.standardFiles())
    }
    if let folder = BaseDirectories().configuration {
      seen.agentConfiguration = mistake { () throws(KeyFileError) in
        _ = try AgentConfiguration.load(["\(folder)/\(Names.Files.agentConfiguration)"])
      }
    }
    await seen.askSystemBus(on: loop)
    await seen.askSessionBus(on: loop)
    return seen
  }

  private static func mistake(_ load: () throws(KeyFileError) -> Void) -> String? {
    do throws(KeyFileError) {
      try load()
      return nil
    } catch {
      return error.description
    }
  }

  private mutating func askSystemBus(on loop: EventLoop) async {
    let bus: Connection
    do throws(BusError) {
      bus = try await Connection.open(.system, on: loop)
    } catch {
      systemBus = error
      return
    }
    daemon = await Answer { () throws(BusError) in try await DaemonClient(bus).status() }
    daemonUnit = await Answer { () throws(BusError) in try await Self.unit("tagrouted.service", bus) }
    polkitActions = await Answer { () throws(BusError) in
      let reply = try await bus.call(
        "org.freedesktop.PolicyKit1", ObjectPath("/org/freedesktop/PolicyKit1/Authority"),
        "org.freedesktop.PolicyKit1.Authority", "EnumerateActions", [.string("")], timeout: Self.patience)
      let actions = reply.first?.asArray?.compactMap { $0.asStructure?.first?.asString } ?? []
      return Set(actions.filter { $0.hasPrefix(Names.Daemon.busName + ".") })
    }
  }

  private mutating func askSessionBus(on loop: EventLoop) async {
    let bus: Connection
    do throws(BusError) {
      bus = try await Connection.open(.session, on: loop)
    } catch {
      sessionBus = error
      return
    }
    let client: AgentClient
    do throws(BusError) {
      client = try AgentClient(bus)
    } catch {
      agent = .failed(error)
      return
    }
    agent = await Answer { () throws(BusError) in try await client.status() }
    agentUnit = await Answer { () throws(BusError) in try await Self.unit("tagroute-agent.service", bus) }
    if agent.value.flatMap({ $0 }) != nil {
      handlers = await Answer { () throws(BusError) in
        try await client.reload()
        return try await client.handlers()
      }
    }
    notifications = await Answer { () throws(BusError) in
      let information = try await Self.notifications("GetServerInformation", bus)
      let capabilities = try await Self.notifications("GetCapabilities", bus).first?.asStrings ?? []
      return NotificationServer(
        name: information.first?.asString ?? "", version: information.count > 2 ? information[2].asString ?? "" : "",
        capabilities: Set(capabilities))
    }
  }

  private static func notifications(_ member: String, _ bus: Connection) async throws(BusError) -> [Value] {
    try await bus.call(
      "org.freedesktop.Notifications", ObjectPath("/org/freedesktop/Notifications"), "org.freedesktop.Notifications",
      member, timeout: patience)
  }

  /// Asks the systemd of the system's bus, or of the user's.
  private static func unit(_ name: String, _ bus: Connection) async throws(BusError) -> Unit {
    let systemd = "org.freedesktop.systemd1"
    let reply = try await bus.call(
      systemd, ObjectPath("/org/freedesktop/systemd1"), "\(systemd).Manager", "LoadUnit", [.string(name)],
      timeout: patience, autoStart: false)
    guard let path = reply.first?.asObjectPath else { throw .failed("LoadUnit gave no path") }
    let values = try await bus.call(
      systemd, path, "org.freedesktop.DBus.Properties", "GetAll", [.string("\(systemd).Unit")], timeout: patience)
    let properties = values.first?.asDictionary ?? [:]
    return Unit(
      load: properties["LoadState"]?.asString ?? "", active: properties["ActiveState"]?.asString ?? "",
      file: properties["UnitFileState"]?.asString ?? "")
  }

  /// A service that is started for the question may take a while; one that hangs is to be named, not waited for.
  private static let patience = Duration.seconds(10)
}
