import Bus
import EventLoop
import Glibc
import TestKit
import Testing

@testable import AgentTests

/// “Always open at once” with the real agent and a fake daemon.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct AlwaysPathTests {
  private static let file = "config/tagroute/rules.d/always.conf"

  @Test func `behind a lock the button neither opens the tap nor writes a rule`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let path = rig.installation.directory.file(Self.file)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    _ = try await rig.call("SetLocked", [.boolean(true)])
    try await server.clickMore(shown, action: "always")
    let again = try await server.next()
    #expect(again.summary == "Open in Menu" && access(path, F_OK) != 0)
    #expect(try await rig.state(1) == "shown")
    _ = try await rig.call("SetLocked", [.boolean(false)])
    try await server.clickMore(again, action: "always")
    #expect(try await rig.handler.next().uri == "https://menu.example.com/a")
    try await rig.agent.line(containing: "opens without a click from now on")
    #expect(try readFile(path).count > 100)
  }

  @Test func `if the rule was edited and still opens the tag, a notification says so`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let uid: [UInt8] = [4, 0, 0, 0, 0, 0, 1]
    let message = try uriMessage("https://menu.example.com/a")
    try await rig.daemon.give(tapValues(1, message: message, uid: uid))
    try await server.clickMore(server.next(), action: "always")
    _ = try await rig.handler.next()
    try await rig.agent.line(containing: "opens without a click from now on")
    // Without a time, it was read just now.
    var values = tapValues(2, message: message, uid: uid)
    values["time"] = nil
    try await rig.daemon.give(values)
    _ = try await rig.handler.next()
    let opened = try await server.next()
    let path = rig.installation.directory.file(Self.file)
    let text = String(decoding: try readFile(path), as: UTF8.self)
    try rig.installation.directory.write(
      text.replacing("[Rule Always: ", with: "[Rule Mine: "), to: Self.file, mode: 0o600)
    try await server.click(opened, action: "ask-next-time")
    let notice = try await server.next()
    #expect(notice.summary == "Your choice for this tag was not saved")
    #expect(notice.body.contains("always.conf:"))
  }

  @Test func `if the rule cannot be written, the tap opens, and a notification says so`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    let target = try directory.write("", to: "target", mode: 0o600)
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    try #require(symlink(target, directory.file(Self.file)) == 0)
    let server = try await rig.startServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    try await server.clickMore(server.next(), action: "always")
    #expect(try await rig.handler.next().uri == "https://menu.example.com/a")
    let notice = try await server.next()
    #expect(notice.summary == "Your choice for this tag was not saved")
    #expect(notice.body.contains("always.conf cannot be changed"))
    #expect(try readFile(target).isEmpty)
  }
}

/// Programs of rules that fail, with the real agent and a fake daemon.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct FailedCommandTests {
  private static func uid(_ number: UInt8) -> [UInt8] { [4, 0, 0, 0, 0, 0, number] }

  /// A tap that was read just now.
  private func give(_ number: Int, to rig: AgentRig) async throws {
    var values = tapValues(number, message: [], uid: Self.uid(UInt8(number)))
    values["time"] = nil
    try await rig.daemon.give(values)
  }

  /// The next notification, or the one after it if a program that fails was only started yet.
  private func failure(_ server: NotificationServerStandIn) async throws -> NotificationServerStandIn.Shown {
    let shown = try await server.next()
    return shown.summary.hasPrefix("Started") ? try await server.next() : shown
  }

  @Test func `a corrected rule takes the failure of the former one from the screen`() async throws {
    let rig = try await AgentRig()
    let rule = "[Rule door]\nUID=04-00-00-00-00-00-01\nRun=/nonexistent/door;\nAsk=no\n"
    try rig.installation.directory.write(rule, to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent()
    try await give(1, to: rig)
    #expect(try await server.next().summary == "Could not start “door”")
    try rig.installation.directory.write(
      rule.replacing("/nonexistent/door", with: "/bin/true"), to: "config/tagroute/rules.d/test.conf")
    let shown = try await server.next()
    #expect(shown.summary == "Run “door”" && !shown.body.contains("/nonexistent"), "\(shown)")
  }

  @Test func `a program that is missing or ends with an error makes the tap fail`() async throws {
    let rig = try await AgentRig()
    let file = try rig.installation.directory.write(
      "[Rule lamp]\nUID=04-00-00-00-00-00-01\nRun=/bin/false;\nAsk=no\n"
        + "[Rule door]\nUID=04-00-00-00-00-00-02\nRun=/nonexistent/door;\nAsk=no\n"
        + "[Rule well]\nUID=04-00-00-00-00-00-03\nRun=/bin/true;\nAsk=no\n",
      to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent()
    for (number, name, program, title, body, why) in [
      (
        1, "lamp", "/bin/false", "“lamp” failed", "The program failed: “/bin/false ended with status 1”",
        "/bin/false ended with status 1"
      ),
      (
        2, "door", "/nonexistent/door", "Could not start “door”",
        "The program is missing or cannot be executed: “/nonexistent/door”",
        "there is no program /nonexistent/door; correct \(file):5"
      ),
    ] {
      try await give(number, to: rig)
      let shown = try await failure(server)
      #expect(shown.summary == title && shown.body.hasSuffix(" · \(body)"), "\(shown)")
      try await rig.agent.line(
        containing: "tap \(tapID(number)) is opened without a click in the program of the rule “\(name)”, \(program)")
      try await rig.agent.line(containing: "tap \(tapID(number)) failed: rule “\(name)”: \(why)")
      let lines = try await rig.tagroute("inbox", "show", tapID(number)).output.split(separator: "\n")
      #expect(lines.last?.hasSuffix(": failed: \(why)") == true, "\(lines)")
      #expect(try await rig.tagroute("inbox", "--state", "failed").output.contains("  rule \(name) "))
      // It is not delivered, so it is tried again.
      let again = try await rig.tagroute("inbox", "open", tapID(number))
      // The command does not wait long for the end of a program that was started.
      #expect(again.status == .exited(1) || name == "lamp", "\(again.errors)")
      #expect(again.status == .exited(0) || again.errors.first?.hasSuffix(": \(why)") == true, "\(again.errors)")
      let repeated = try await failure(server)
      #expect(repeated.summary == title)
      // It stays failed when its notification has gone.
      try await server.close(repeated, reason: 1)
      try await rig.agent.line(containing: "tap \(tapID(number)) is failed-off-screen")
      #expect(try await rig.tagroute("inbox", "--state", "failed").output.contains("  rule \(name) "))
      let after = try await rig.tagroute("inbox", "show", tapID(number)).output
      #expect(after.contains(": the rule “\(name)” failed: \(why)\n"), "\(after)")
    }
    try await give(3, to: rig)
    try await rig.agent.line(
      containing:
        "tap \(tapID(3)) was handed to the program of the rule “well”, /bin/true, which has ended without an error")
    let opened = try await rig.tagroute("inbox", "open", tapID(3))
    #expect(opened.status == .exited(1))
    let words = "tagroute: tap 01234567: the rule “well” has already started /bin/true at "
    #expect(opened.errors.first?.hasPrefix(words) == true, "\(opened.errors)")
  }

  @Test func `a program that fails long after its start makes the tap fail then`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    let gate = directory.file("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let program = try directory.write("#!/bin/sh\nread line < '\(gate)'\nexit 7\n", to: "player", mode: 0o755)
    try directory.write(
      "[Rule player]\nUID=04-00-00-00-00-00-01\nRun=\(program);\nAsk=no\n",
      to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent()
    try await give(1, to: rig)
    #expect(try await server.next().summary == "Started “player”")
    #expect(try await rig.state(1) == "delivered")
    let end = FileDescriptor(owning: try await DedicatedThread.run { open(gate, O_WRONLY | O_CLOEXEC) })
    #expect(write(end.rawValue, "\n", 1) == 1)
    let failed = try await server.next()
    #expect(failed.summary == "“player” failed")
    #expect(failed.body.contains("The program failed: “\(program) ended with status 7”"))
    #expect(try await rig.state(1) == "failed")
    // The next run shows it again.
    _ = try await rig.agent.exit(after: SIGTERM)
    try await rig.startAgent()
    #expect(try await server.next().summary == "“player” failed")
  }
}

/// Removed tags with the real agent and a fake daemon.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RemovalPathTests {
  private static func uid(_ number: UInt8) -> [UInt8] { [4, 0, 0, 0, 0, 0, number] }

  @Test func `OnRemove= does not run behind a lock, nor for a tap that was not opened`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    let rules = (1...3).map { number in
      "[Rule \(number)]\nUID=04-00-00-00-00-00-0\(number)\nRun=/bin/true;\n"
        + "OnRemove=/usr/bin/touch;\(directory.file("removed-\(number)"));\n"
    }
    try directory.write(rules.joined(), to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent()
    let agent = try await rig.agent
    let signals = try await rig.signals()
    for number in 1...3 {
      try await rig.daemon.give(tapValues(number, message: [], uid: Self.uid(UInt8(number))))
      let shown = try await server.next()
      // The first one is not opened.
      if number > 1 {
        try await server.click(shown, action: "open")
        try await agent.line(containing: "tap \(tapID(number)) was handed to the program of the rule")
      }
    }
    try await rig.daemon.takeAway(tapID(1))
    _ = try await rig.call("SetLocked", [.boolean(true)])
    try await rig.daemon.takeAway(tapID(2))
    _ = try await rig.call("SetLocked", [.boolean(false)])
    try await rig.daemon.takeAway(tapID(3))
    try await agent.line(containing: "OnRemove= of the rule “3” was started")
    #expect(access(directory.file("removed-1"), F_OK) != 0)
    #expect(access(directory.file("removed-2"), F_OK) != 0)
    #expect(await !agent.log().contains { $0.contains("OnRemove= of the rule “2”") })
    var reported: [String?] = []
    for await signal in signals where signal.member == "TagRemoved" {
      reported.append(signal.arguments.first?.asString)
      if reported.count == 3 { break }
    }
    #expect(reported == [tapID(1), tapID(2), tapID(3)])
  }

  @Test func `OnRemove= does not run behind a lock after a late answer`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    try directory.write(
      "[Rule menu]\nUID=04-00-00-00-00-00-01\nOpen=org.example.Menu.desktop\n"
        + "OnRemove=/usr/bin/touch;\(directory.file("removed"));\n",
      to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent()
    await rig.handler.set(.hangs)
    try await rig.daemon.give(
      tapValues(1, message: try uriMessage("https://menu.example.com/a"), uid: Self.uid(1)))
    try await server.click(try await server.next(), action: "open")
    _ = try await rig.handler.next()
    try await rig.daemon.takeAway(tapID(1))
    _ = try await rig.call("SetLocked", [.boolean(true)])
    await rig.handler.answer()
    let agent = try await rig.agent
    try await agent.line(containing: "the removal of a tag has no effect: the session is locked")
    #expect(access(directory.file("removed"), F_OK) != 0)
    #expect(await !agent.log().contains { $0.contains("OnRemove= of the rule") })
  }

  @Test func `a removal with an invalid id is refused, and one of an unknown tap has no effect`() async throws {
    let rig = try await AgentRig.withAgent()
    await #expect(throws: BusError.self) { try await rig.daemon.takeAway("x") }
    try await rig.daemon.takeAway(tapID(9))
  }
}
