import Bus
import Glibc
import Names
import ReaderLink
import TestRig
import Testing

/// The real `tagrouted`: a reader's tags go only to the active session of its seat.
///
/// All sessions belong to the user who runs the tests, because an agent has the user of its process. This makes no
/// difference: the daemon knows the user of a session from logind alone.
@Suite(.timeLimit(.minutes(5))) struct SeatTests {
  private static let uid = getuid()

  private static func session(_ id: String, _ change: (inout LogindStandIn.Session) -> Void = { _ in })
    -> LogindStandIn.Session
  {
    var session = LogindStandIn.Session(id: id, uid: uid)
    change(&session)
    return session
  }

  @Test func `a tap goes only to the agent of the active session`() async throws {
    let rig = try await DaemonRig(sessions: [Self.session("2"), Self.session("5") { $0.isActive = false }])
    let logind = try #require(rig.logind)
    let first = try await rig.agent()
    let second = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("one.example")), number: 1)
    #expect(try await first.taps.nextMessage() == link("one.example"))

    // During the switch there is no active session for a moment.
    try await logind.update("2") { $0.isActive = false }
    try await rig.scanning(false)
    await rig.reader.tap(.message(link("nobody.example")), number: 2)
    try await rig.daemon.line(containing: "ignored a late tag")
    try await logind.update("5") { $0.isActive = true }
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("two.example")), number: 3)
    #expect(try await second.taps.nextMessage() == link("two.example"))

    try await logind.update("5") { $0.isActive = false }
    try await rig.scanning(false)
    try await logind.update("2") { $0.isActive = true }
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("three.example")), number: 4)
    // The next tap of the first agent is the third one. It received neither the second one nor the dropped one.
    #expect(try await first.taps.nextMessage() == link("three.example"))
  }
}
