import Bus
import NDEF
import TestRig
import Testing

/// Wi-Fi stickers, with the real daemon, the real agent and a stand-in for NetworkManager.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct WiFiTests {
  private static let password = "s3cret-visitors"

  private static func tag(_ number: Int) throws -> Tag {
    let network = WiFiNetwork(ssid: "Guest", passphrase: password)
    let message = try NDEFMessage(records: [WiFiRecord([network]).record()])
    return Tag(try Tag(number), message: try message.encoded())
  }

  /// The output of a command.
  private func run(_ desktop: Desktop, _ arguments: String...) async throws -> String {
    let process = try await desktop.installation.start("tagroute", arguments)
    #expect(try await process.exit() == .exited(0))
    return await process.standardOutput()
  }

  @Test func `a click connects, a second button also saves, and the password is in no log`() async throws {
    let desktop = try await Desktop()
    let manager = try await NetworkManagerStandIn.start(on: desktop.systemBus)
    let server = try await desktop.startWithServer()
    let agent = try await desktop.agent
    for (number, action) in ["default", "save"].enumerated() {
      let seen = await agent.log().count
      try await desktop.place(try Self.tag(number + 1))
      let shown = try await desktop.notification(on: server)
      #expect(shown.summary == "Connect to Wi-Fi “Guest”?")
      #expect(shown.body == "The password is on the tag")
      #expect(await manager.all.count == number)
      try await server.click(shown, action: action)
      guard case .add(let settings, _, let options) = try await manager.next() else {
        Issue.record("nothing was added")
        return
      }
      #expect(settings["802-11-wireless-security"]?["psk"]?.asString == Self.password)
      #expect(options["persist"]?.asString == "memory")
      if action == "save" {
        guard case .update(let kept, flags: 1) = try await manager.next() else {
          Issue.record("nothing was saved")
          return
        }
        #expect(kept["connection"]?["autoconnect"]?.asBool == true)
        #expect(kept["802-11-wireless-security"]?["psk"]?.asString == Self.password)
      }
      try await agent.line(containing: "was handed to NetworkManager", after: seen)
    }
    // The saved profile replaces that of the first click.
    #expect(await manager.all.count == 4)
    #expect(await manager.all.last == .delete)
    let inbox = try await run(desktop, "inbox")
    #expect(inbox.contains("Wi-Fi network “Guest”") && !inbox.contains(Self.password))
    for process in [agent, try await desktop.daemon] {
      #expect(await process.log().allSatisfy { !$0.contains(Self.password) })
    }
  }

  @Test func `a wrong password is reported, and leaves no profile`() async throws {
    let desktop = try await Desktop()
    let manager = try await NetworkManagerStandIn.start(on: desktop.systemBus, .wantsAnotherPassword)
    let server = try await desktop.startWithServer()
    try await desktop.place(try Self.tag(1))
    try await server.click(try await desktop.notification(on: server), action: "save")
    let failed = try await desktop.notification(on: server)
    #expect(failed.summary == "Could not connect to Wi-Fi “Guest”")
    #expect(await manager.all.last == .delete)
  }

  @Test func `without NetworkManager, the notification says so`() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startWithServer()
    try await desktop.place(try Self.tag(1))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "Wi-Fi network “Guest”")
    #expect(shown.body == "NetworkManager is needed to connect, and it does not run")
  }
}
