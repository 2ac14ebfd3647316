import Bus
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon

/// The real `tagrouted`: an agent receives the sheets of its user's reader session and can cancel the session.
@Suite(.timeLimit(.minutes(5))) struct ReaderSessionSheetTests {
  @Test func `an agent shows the session of its user and cancels it`() async throws {
    let active = try await DaemonRig.inSession(["message": .string("Hold it")])
    let (rig, agent, client, session) = (active.rig, active.agent, active.client, active.session)
    var sheets = agent.sheets.makeAsyncIterator()
    let shown = try #require(await sheets.next())
    #expect(shown.member == "ShowReaderSession")
    #expect(shown.arguments.first == .objectPath(session))
    #expect(shown.arguments.last?.asDictionary?["message"]?.asString == "Hold it")
    _ = try await client.connection.call(
      Names.Daemon.busName, session, "org.freedesktop.DBus.Properties", "Set",
      [.string(Names.Daemon.readerSessionInterface), .string("Message"), .variant(.string("Hold it longer"))])
    #expect(await sheets.next()?.arguments.last?.asDictionary?["message"]?.asString == "Hold it longer")
    let stranger = await AgentDouble.errorName {
      _ = try await client.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "CancelReaderSession",
        [.objectPath(session)])
    }
    #expect(stranger == Names.Errors.notAuthorized)
    try await agent.call("CancelReaderSession", [.objectPath(session)])
    #expect(try await client.expect("Ended").first == .string("cancelled"))
    #expect(
      await sheets.next()?.arguments == [.objectPath(session), .string("cancelled"), .string("it was cancelled")])
    _ = try await rig.end()
    try await rig.scanning(true)
  }

  @Test func `a restarted agent shows the open session and cancels it`() async throws {
    let active = try await DaemonRig.inSession(["message": .string("Hold it")])
    let (rig, agent, client, session) = (active.rig, active.agent, active.client, active.session)
    // The agent dies. The daemon keeps the session while there is no agent.
    let name = try #require(await agent.connection.uniqueName)
    await agent.connection.close()
    try await rig.daemon.line(containing: "agent \(name) of \(SessionKey(id: "2", uid: DaemonRig.session.uid)) is gone")
    let next = try await rig.agent()
    var sheets = next.sheets.makeAsyncIterator()
    let shown = try #require(await sheets.next())
    #expect(shown.member == "ShowReaderSession")
    #expect(shown.arguments.first == .objectPath(session))
    #expect(shown.arguments.last?.asDictionary?["message"]?.asString == "Hold it")
    try await next.call("CancelReaderSession", [.objectPath(session)])
    #expect(try await client.expect("Ended").first == .string("cancelled"))
    #expect(await sheets.next()?.member == "CloseReaderSession")
  }
}
