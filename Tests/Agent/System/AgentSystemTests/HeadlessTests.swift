import Bus
import Glibc
import Inbox
import Names
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

/// The real agent on a station without a desktop. A notification server runs, and must not hear from the agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct HeadlessTests {
  private static let uid: [UInt8] = [4, 0, 0, 0, 0, 0, 1]

  private static func begin(
    _ rules: (TemporaryDirectory) -> String, starter: String = #function
  ) async throws -> (AgentRig, NotificationServerStandIn) {
    let rig = try await AgentRig(arguments: ["--headless"], starter: starter)
    let directory = rig.installation.directory
    try directory.write(rules(directory), to: "config/tagroute/rules.d/test.conf")
    return (rig, try await rig.startServerAndAgent())
  }

  /// A tap that was read just now.
  private static func fresh(_ number: Int, _ message: [UInt8], uid: [UInt8]? = nil) -> [String: Value] {
    var values = tapValues(number, message: message, uid: uid)
    values["time"] = nil
    return values
  }

  @Test func `a rule with Ask=no runs a real program, and every other tap is kept with its reason`() async throws {
    let (rig, server) = try await Self.begin { directory in
      "[Rule door]\nUID=04-00-00-00-00-00-01\nRun=/usr/bin/touch;\(directory.file("opened"));\nAsk=no\n"
        + "[Rule lamp]\nUID=04-00-00-00-00-00-02\nRun=/usr/bin/touch;\(directory.file("asked"));\n"
        + "[Rule quiet]\nUID=04-00-00-00-00-00-03\nIgnore=yes\n"
    }
    let signals = try await rig.signals()
    let link = try uriMessage("https://menu.example.com/a")
    try await rig.daemon.give(Self.fresh(1, link))
    #expect(await signals.closed(1) == "delivered")
    try await rig.agent.line(containing: "tap \(tapID(1)) was handed to the program of the rule “door”")

    for number in 2...4 { try await rig.daemon.give(Self.fresh(number, link)) }
    for (number, code, words) in [
      (2, "headless", "no user can be asked, and the rule “lamp” has no Ask=no"),
      (3, "ignored", "the rule “quiet” ("), (4, "headless", "no user can be asked, and no rule acts on the tag"),
    ] {
      let tap = try await rig.tap(number)
      #expect(tap["state"] == .string("dismissed") && tap["state-reason-code"] == .string(code))
      #expect(tap["state-reason"]?.asString?.hasPrefix(words) == true, "\(tap)")
      #expect(tap["message"] == .bytes(link))
    }
    #expect(access(rig.installation.directory.file("asked"), F_OK) != 0)
    // The log above debug names no link.
    let lines = try await rig.agent.log().filter { !$0.hasPrefix("<7>") }
    #expect(!lines.contains { $0.contains("menu.example.com") })
    #expect(await server.all.isEmpty)
    #expect(await server.capabilityRequests == 0)
  }

  @Test func `an app opens by a rule with Ask=no, and its failure is kept without a notification`() async throws {
    let (rig, server) = try await Self.begin { _ in
      "[Rule menu]\nLink=https://menu.example.com/*\nOpen=\(HandlerStandIn.desktopID)\nAsk=no\n"
    }
    let signals = try await rig.signals()
    try await rig.daemon.give(Self.fresh(1, try uriMessage("https://menu.example.com/1")))
    #expect(try await rig.handler.next().uri == "https://menu.example.com/1")
    #expect(await signals.closed(1) == "delivered")
    await rig.handler.set(.refuses)
    try await rig.daemon.give(Self.fresh(2, try uriMessage("https://menu.example.com/2")))
    #expect(await signals.closed(2) == "failed")
    #expect(try await rig.tap(2)["state-reason-code"] == .string("handler-failed"))
    // A refused link would have its own notice.
    try await rig.daemon.give(Self.fresh(3, try uriMessage("javascript:alert(1)")))
    #expect(try await rig.state(3) == "failed")
    // The next run does not carry it out again.
    try await rig.restartAgent()
    #expect(try await rig.state(2) == "failed")
    #expect(try await rig.tap(2)["state-reason-code"] == .string("handler-failed"))
    #expect(await server.all.isEmpty)
  }

  @Test func `a tap that was not read just now does not run its rule`() async throws {
    let (rig, server) = try await Self.begin { directory in
      "[Rule door]\nUID=04-00-00-00-00-00-01\nRun=/usr/bin/touch;\(directory.file("opened"));\nAsk=no\n"
    }
    // The time of this tap is long ago.
    try await rig.daemon.give(tapValues(1, message: [], uid: Self.uid))
    #expect(try await rig.state(1) == "dismissed")
    #expect(try await rig.tap(1)["state-reason-code"] == .string("headless"))
    #expect(access(rig.installation.directory.file("opened"), F_OK) != 0)
    #expect(await server.all.isEmpty)
  }

  @Test func `taps that an earlier run left open end without a notification, and no rule runs for them`() async throws {
    let rig = try await ServiceRig(isHeadless: true)
    let (inbox, service) = (rig.inbox, rig.service)
    try await rig.receive(1...3)
    try await inbox.move(tapID(2), to: .shown)
    try await inbox.move(tapID(3), to: .opening)
    await service.desk.show(await inbox.resume(maximum: 10))
    for (number, state, code) in [
      (1, TapState.dismissed, TapReason.Code.headless), (2, .dismissed, .headless),
      (3, .failedOffScreen, .endedWhileOpening),
    ] {
      let stored = try await inbox.tap(tapID(number))
      #expect(stored.state == state && stored.reason.code == code, "\(number)")
    }
    #expect(await service.desk.policy.onScreenInOrder.isEmpty)
    #expect(await rig.server.all.isEmpty)
    try await rig.bus.stop()
  }

  @Test func `it reports no screen, cannot be locked, and says that it is headless`() async throws {
    let (rig, server) = try await Self.begin { _ in "" }
    for await conditions in rig.daemon.reports {
      #expect(conditions.isEmpty)
      break
    }
    #expect(try await rig.property("Headless") == .boolean(true))
    let error = await #expect(throws: BusError.self) { try await rig.call("SetLocked", [.boolean(true)]) }
    #expect(error?.name == Names.Errors.notPossible)
    _ = try await rig.call("Identify", [.dictionary([:])])
    for await _ in rig.daemon.identifications { break }
    #expect(await server.all.isEmpty)
  }

  @Test func `with a desktop, Identify shows the name of the computer`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(capabilities: ["actions", "body", "sound"])
    #expect(try await rig.property("Headless") == .boolean(false))
    _ = try await rig.call("Identify", [.dictionary([:])])
    let shown = try await server.next()
    #expect(shown.summary.hasPrefix("This is ") && shown.summary.count > "This is ".count)
    #expect(shown.hints["sound-name"] == .string("message-new-instant"))
    #expect(!shown.isTap)
  }
}
