import Bus
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// The buttons beside “Open” and “Dismiss”, on servers as packaged by Debian.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RealServerButtonTests {
  private static let password = "s3cret-visitors"

  private static func guest(_ number: Int) throws -> Tag {
    let network = WiFiNetwork(ssid: "Guest", passphrase: password)
    let message = try NDEFMessage(records: [WiFiRecord([network]).record()])
    return Tag(try Tag(number), message: try message.encoded())
  }

  @Test(arguments: RealServerButtons.Kind.tested)
  func `a tag opens at once after one button, and asks again after another`(
    kind: RealServerButtons.Kind
  ) async throws {
    let (desktop, screen, buttons) = try await RealServerButtons.stage(kind)
    let agent = try await desktop.agent
    let rules = desktop.installation.directory.file("config/tagroute/rules.d/always.conf")
    let tag = try Tag(1)

    try await desktop.place(tag)
    _ = try await screen.shown()
    try await buttons.press("Always open this tag at once")
    #expect(try await desktop.handed().message == tag.message)
    try await agent.line(containing: "opens without a click from now on")
    try await screen.empty()
    #expect(String(decoding: try readFile(rules), as: UTF8.self).contains("UID=04-00-00-00-00-00-01\n"))

    // Nobody clicks.
    try await desktop.remove()
    try await desktop.place(tag)
    #expect(try await desktop.handed().message == tag.message)
    _ = try await screen.shown()
    try await buttons.press("Ask next time")
    try await agent.line(containing: "asks from now on")
    try await screen.empty()
    #expect(try readFile(rules).isEmpty)

    try await desktop.remove()
    try await desktop.place(tag)
    _ = try await screen.shown()
    #expect(await desktop.app.count == 2)
    try await buttons.press("Open")
    #expect(try await desktop.handed().message == tag.message)
    #expect(await desktop.app.count == 3)
  }

  @Test(arguments: RealServerButtons.Kind.tested)
  func `one button connects to a network, and another also saves it`(kind: RealServerButtons.Kind) async throws {
    let (desktop, screen, buttons) = try await RealServerButtons.stage(kind)
    let agent = try await desktop.agent
    let manager = try await NetworkManagerStandIn.start(on: desktop.systemBus)

    try await desktop.place(try Self.guest(1))
    _ = try await screen.shown()
    #expect(await manager.all.isEmpty)
    try await buttons.press("Connect")
    guard case .add = try await manager.next() else {
      Issue.record("“Connect” did not add a profile")
      return
    }
    try await agent.line(containing: "was handed to NetworkManager")
    try await screen.empty()
    #expect(await manager.all.count == 1)

    let seen = await agent.log().count
    try await desktop.place(try Self.guest(2))
    _ = try await screen.shown()
    try await buttons.press("Connect and Save")
    guard case .add = try await manager.next(), case .update(let kept, flags: 1) = try await manager.next() else {
      Issue.record("“Connect and Save” did not save the profile")
      return
    }
    #expect(kept["802-11-wireless-security"]?["psk"]?.asString == Self.password)
    try await agent.line(containing: "was handed to NetworkManager", after: seen)
    try await screen.empty()
    // The saved profile replaces that of “Connect”.
    #expect(await manager.all.count == 4)
    #expect(await manager.all.last == .delete)
  }
}
