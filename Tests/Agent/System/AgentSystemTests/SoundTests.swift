import Bus
import Notifications
import Settings
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SoundTests {
  private static let capabilities = ["actions", "body", "body-markup", "sound"]

  private func begin(
    _ setting: String, starter: String = #function
  ) async throws -> (AgentRig, NotificationServerStandIn) {
    let rig = try await AgentRig(starter: starter)
    if !setting.isEmpty {
      try rig.installation.directory.write("[Notifications]\nSound=\(setting)\n", to: "agent.conf")
    }
    return (rig, try await rig.startServerAndAgent(capabilities: Self.capabilities))
  }

  /// The sound of a notification: its name, `silence`, or nil if the server decides.
  private func sound(_ shown: NotificationServerStandIn.Shown) -> String? {
    if let name = shown.hints["sound-name"] { return name.asString }
    return shown.hints["suppress-sound"] == .boolean(true) ? "silence" : nil
  }

  @Test func `a tap, a failure and a refused link have their sounds`() async throws {
    let (rig, server) = try await begin("on")
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(sound(shown) == "message-new-instant")
    try await server.click(shown)
    let failed = try await server.next()
    #expect(failed.summary == "Could not open in Menu" && sound(failed) == "dialog-error")
    try await rig.daemon.give(tapValues(2, message: try uriMessage("javascript:alert(1)")))
    let refused = try await server.next()
    #expect(!refused.isTap && sound(refused) == "dialog-error")
  }

  @Test func `the tags of an app have the sound that a rule names`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    try directory.write("[Notifications]\nSound=on\n", to: "agent.conf")
    try directory.write(
      "[Rule menu]\nHandler=org.example.Menu\nOpen=org.example.Menu\nSound=bell\n",
      to: "config/tagroute/rules.d/test.conf")
    let server = try await rig.startServerAndAgent(capabilities: Self.capabilities)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(shown.summary == "Open in Menu" && sound(shown) == "bell")
  }

  @Test func `the next agent shows the tap again without a sound`() async throws {
    let (rig, server) = try await begin("on")
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let first = try await server.next()
    #expect(sound(first) == "message-new-instant")
    try await rig.agent.line(containing: "tap \(tapID(1)) is shown")
    try await rig.restartAgent()
    let again = try await server.next()
    #expect(again.summary == first.summary && sound(again) == "silence")
  }

  @Test func `if the server has no sounds, the desktop's program plays them`() async throws {
    let programs = try TemporaryDirectory()
    try programs.write("#!/bin/sh\necho \"played $*\" >&2\n", to: "canberra-gtk-play", mode: 0o755)
    let rig = try await AgentRig(
      environment: ["PATH": "\(programs.path):/usr/bin:/bin", "WAYLAND_DISPLAY": "none"])
    try rig.installation.directory.write("[Notifications]\nSound=on\n", to: "agent.conf")
    let server = try await rig.startServerAndAgent()
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(sound(shown) == nil)
    try await rig.agent.line(containing: "played --id=message-new-instant")
    try await server.click(shown)
    #expect(try await sound(server.next()) == nil)
    try await rig.agent.line(containing: "played --id=dialog-error")
    withExtendedLifetime(programs) {}
  }

  @Test func `a reload changes the sounds of the next tap`() async throws {
    let (rig, server) = try await begin("on")
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    #expect(try await sound(server.next()) == "message-new-instant")
    try rig.installation.directory.write("[Notifications]\nSound=off\n", to: "agent.conf")
    _ = try await rig.call("Reload")
    try await rig.daemon.give(tapValues(2, message: try uriMessage("https://menu.example.com/b")))
    #expect(try await sound(server.next()) == "silence")
  }
}
