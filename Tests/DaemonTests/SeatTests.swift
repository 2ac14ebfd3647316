import Bus
import Glibc
import Names
import ReaderLink
import TestSupport
import Testing

/// The real `tagrouted`: a reader's tags go to the active session of its seat, and to nobody else.
///
/// All sessions are of the user who runs the tests, since an agent's user is who it is; which session is whose is logind's word
/// alone, so that changes nothing.
@Suite(.timeLimit(.minutes(5))) struct SeatTests {
  private static let uid = getuid()

  private static func session(_ id: String, _ change: (inout LogindStandIn.Session) -> Void = { _ in })
    -> LogindStandIn.Session
  {
    var session = LogindStandIn.Session(id: id, uid: uid)
    change(&session)
    return session
  }

  /// The next tap that an agent was given, by its message.
  private func next(_ agent: AgentDouble) async -> [UInt8]? {
    for await tap in agent.taps { return tap["message"]?.asBytes }
    return nil
  }

  private static func message(_ text: String) -> [UInt8] {
    [0xD1, 0x01, UInt8(text.utf8.count + 1), 0x55, 0x01] + Array(text.utf8)
  }

  @Test func aTapGoesToTheAgentOfTheSessionInFrontAndToNoOther() async throws {
    let rig = try await DaemonRig(sessions: [Self.session("2"), Self.session("5") { $0.isActive = false }])
    let logind = try #require(rig.logind)
    let first = try await rig.agent()
    let second = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("one.example")), number: 1)
    #expect(await next(first) == Self.message("one.example"))

    // The switch has a moment in which nobody is in front.
    try await logind.update("2") { $0.isActive = false }
    try await rig.scanning(false)
    await rig.reader.tap(.message(Self.message("nobody.example")), number: 2)
    try await rig.daemon.line(containing: "was read too late")
    try await logind.update("5") { $0.isActive = true }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("two.example")), number: 3)
    #expect(await next(second) == Self.message("two.example"))

    try await logind.update("5") { $0.isActive = false }
    try await rig.scanning(false)
    try await logind.update("2") { $0.isActive = true }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("three.example")), number: 4)
    // What the first agent hears next is the third: neither the second nor the one in between was ever its own.
    #expect(await next(first) == Self.message("three.example"))
  }

  @Test(arguments: [
    ("greeter", "wayland", false, "seat0"), ("user", "wayland", true, ""), ("user", "tty", false, "seat0"),
    ("background", "unspecified", false, ""), ("lock-screen", "x11", false, "seat0"),
  ])
  func whoIsNotAUserAtTheMachinesDesktopGetsNothing(
    sessionClass: String, type: String, isRemote: Bool, seat: String
  ) async throws {
    let other = Self.session("9") {
      $0.sessionClass = sessionClass
      $0.type = type
      $0.isRemote = isRemote
      $0.seat = seat
      $0.isActive = false
    }
    let rig = try await DaemonRig(sessions: [Self.session("2"), other])
    let logind = try #require(rig.logind)
    let agent = try await rig.agent()
    try await rig.scanning(true)
    // Another agent finds no session for itself: the user's desktop has one, and what else there is gets none.
    let second = try await AgentDouble(on: rig.bus)
    let error = await AgentDouble.errorName { try await second.register() }
    #expect(error == Names.Errors.alreadyRegistered)
    // In front of the desktop it takes the tags from it, and gets none itself.
    try await logind.update("2") { $0.isActive = false }
    try await logind.update("9") { $0.isActive = true }
    try await rig.scanning(false)
    await rig.reader.tap(.message(Self.message("nobody.example")), number: 1)
    try await rig.daemon.line(containing: "was read too late")
    try await logind.update("9") { $0.isActive = false }
    try await logind.update("2") { $0.isActive = true }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("mine.example")), number: 2)
    #expect(await next(agent) == Self.message("mine.example"))
  }

  @Test func aSeatWithoutAReaderGetsNothingAndTakesNothingAway() async throws {
    let rig = try await DaemonRig(sessions: [Self.session("2"), Self.session("7") { $0.seat = "seat1" }])
    let logind = try #require(rig.logind)
    let first = try await rig.agent()
    let other = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("one.example")), number: 1)
    #expect(await next(first) == Self.message("one.example"))
    // What happens at the other seat is nothing to this one's reader.
    try await logind.update("7") { $0.isLocked = true }
    try await other.report(["camera": true, "display-off": true])
    #expect(try await first.property("SuspendReasons")?.asStrings == [])
    try await first.report(["camera": true])
    try await rig.scanning(false)
    await rig.reader.tap(.message(Self.message("nobody.example")), number: 2)
    try await rig.daemon.line(containing: "was read too late")
    try await first.report([:])
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.message("two.example")), number: 3)
    #expect(await next(first) == Self.message("two.example"))
  }
}
