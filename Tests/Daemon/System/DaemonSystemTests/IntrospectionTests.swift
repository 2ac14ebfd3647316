import Bus
import Names
import TestKit
import Testing

/// The introspection data of the running daemon has to match the files in `Config/dbus/interfaces`.
@Suite(.timeLimit(.minutes(5))) struct IntrospectionTests {
  @Test func `the running daemon has the documented interfaces`() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    for (path, name) in [
      (Names.Daemon.path, Names.Daemon.managerInterface),
      ("\(Names.Daemon.readersPath)/0", Names.Daemon.readerInterface),
    ] {
      let reply = try await agent.connection.call(
        Names.Daemon.busName, ObjectPath(path), "org.freedesktop.DBus.Introspectable", "Introspect")
      let running = InterfaceDescription(of: name, in: try #require(reply.first?.asString))
      let documented = try InterfaceDescription(documented: name)
      #expect(!documented.members.isEmpty)
      #expect(running == documented)
    }
  }

  @Test func `readers are managed objects and signal their changes`() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    let reader = try ObjectPath("\(Names.Daemon.readersPath)/0")
    let reply = try await agent.connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    guard case .dictionary(_, _, let objects) = reply.first else {
      Issue.record("GetManagedObjects returned \(reply)")
      return
    }
    #expect(objects.map(\.key.asObjectPath) == [reader])
    #expect(try await agent.property("Readers")?.asObjectPaths == [reader])
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: reader, member: "PropertiesChanged"))
    try await agent.register()
    for await change in changes {
      #expect(change.arguments[1].asDictionary?["State"]?.asString == "scanning")
      break
    }
  }
}
