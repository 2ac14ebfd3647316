import Bus
import Glibc
import TestKit
import Testing

@testable import AgentTests

/// “Always open this tag at once” with the real agent and a fake daemon.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct AlwaysPathTests {
  private static let file = "config/tagroute/rules.d/always.conf"

  @Test func `behind a lock the button neither opens the tap nor writes a rule`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let path = rig.installation.directory.file(Self.file)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    _ = try await rig.call("SetLocked", [.boolean(true)])
    try await server.click(shown, action: "always")
    let again = try await server.next()
    #expect(again.summary == "Open in Menu" && access(path, F_OK) != 0)
    #expect(try await rig.state(1) == "shown")
    _ = try await rig.call("SetLocked", [.boolean(false)])
    try await server.click(again, action: "always")
    #expect(try await rig.handler.next().uri == "https://menu.example.com/a")
    try await rig.agent.line(containing: "opens without a click from now on")
    #expect(try readFile(path).count > 100)
  }

  @Test func `if the rule was edited and still opens the tag, a notification says so`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let uid: [UInt8] = [4, 0, 0, 0, 0, 0, 1]
    let message = try uriMessage("https://menu.example.com/a")
    try await rig.daemon.give(tapValues(1, message: message, uid: uid))
    try await server.click(server.next(), action: "always")
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
    try await server.click(server.next(), action: "always")
    #expect(try await rig.handler.next().uri == "https://menu.example.com/a")
    let notice = try await server.next()
    #expect(notice.summary == "Your choice for this tag was not saved")
    #expect(notice.body.contains("always.conf cannot be changed"))
    #expect(try readFile(target).isEmpty)
  }
}
