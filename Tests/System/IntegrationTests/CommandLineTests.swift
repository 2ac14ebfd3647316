import Bus
import Foundation
import Names
import TagrouteClient
import TestRig
import Testing

/// `tagroute` with the real daemon and the real agent: the JSON keys that scripts depend on.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CommandLineTests {
  /// Runs a command, which must succeed, and returns its JSON output.
  private func json(_ desktop: Desktop, _ arguments: String...) async throws -> Any {
    let process = try await desktop.installation.start("tagroute", arguments + ["--json"])
    let status = try await process.exit()
    let log = await process.log()
    #expect(status == .exited(0), "\(log)")
    return try JSONSerialization.jsonObject(with: Data(await process.standardOutput().utf8))
  }

  private func object(_ desktop: Desktop, _ arguments: String...) async throws -> [String: Any] {
    let process = try await desktop.installation.start("tagroute", arguments + ["--json"])
    let status = try await process.exit()
    let log = await process.log()
    #expect(status == .exited(0), "\(log)")
    return try Self.object(await process.standardOutput())
  }

  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `status reports the daemon, the readers and the agent`() async throws {
    let desktop = try await Desktop()
    try await desktop.startScanning()
    let status = try await object(desktop, "status")
    #expect(status["scanning"] as? Bool == true)
    #expect(status["suspendReasons"] as? [String] == [])
    let readers = try #require(status["readers"] as? [[String: Any]])
    #expect(readers.count == 1)
    #expect((readers[0]["name"] as? String)?.isEmpty == false)
    #expect(readers[0]["device"] as? String == "pn532_uart:\(desktop.installation.directory.file("reader"))")
    #expect(readers[0]["seat"] as? String == "seat0")
    #expect(readers[0]["state"] as? String == "scanning")
    let agent = try #require(status["agent"] as? [String: Any])
    #expect(agent["registered"] as? Bool == true)

    #expect(try await object(desktop, "session", "lock")["locked"] as? Bool == true)
    #expect(try await object(desktop, "status")["suspendReasons"] as? [String] == ["session-locked"])
    #expect(try await object(desktop, "session", "unlock")["locked"] as? Bool == false)
    try await desktop.status(\.scanning)

    let process = try await desktop.agent
    try await process.exit(after: SIGTERM)
    try await desktop.status { !$0.scanning && $0.suspendReasons == ["no-agent"] }
    let without = try await object(desktop, "status")
    #expect(without["agent"] is NSNull)
    #expect(without["suspendReasons"] as? [String] == ["no-agent"])
  }

  @Test func `resolve and handlers report which app opens a link`() async throws {
    let desktop = try await Desktop()
    try await desktop.installation.startAgent()
    // The agent owns its name by the time it waits for the daemon.
    try await desktop.agent.line(containing: "the daemon is not on the system bus")
    let link = try await object(desktop, "resolve", "https://menu.example.com/table/7")
    #expect(link["uri"] as? String == "https://menu.example.com/table/7")
    #expect(link["kind"] as? String == "universal-link")
    #expect(link["handler"] as? String == HandlerStandIn.desktopID)
    #expect(link["candidates"] as? [String] == [HandlerStandIn.desktopID])
    #expect(link["trusted"] as? Bool == true)
    #expect((link["reason"] as? String)?.isEmpty == false)
    let claimants = try #require(link["claimants"] as? [[String: Any]])
    #expect(claimants.map { $0["id"] as? String } == [HandlerStandIn.desktopID])
    #expect(claimants.map { $0["outcome"] as? String } == ["only"])
    #expect(link["moreClaimants"] as? Int == 0 && link["moreCandidates"] as? Int == 0)
    let explained = try await object(desktop, "resolve", "--explain", "https://menu.example.com/table/7")
    let trust = geteuid() == 0 ? "installed by the system" : "allowed by the user"
    #expect(
      explained["steps"] as? [String] == [
        "uri: it is well-formed",
        "domain: menu.example.com matches menu.example.com, claimed by \(HandlerStandIn.desktopID)",
        "choice: \(HandlerStandIn.desktopID) is the only one that claims menu.example.com, and \(trust)",
      ])
    for (uri, kind) in [("javascript:alert(1)", "refused"), ("tel:+15550100", "none")] {
      let answer = try await object(desktop, "resolve", uri)
      #expect(answer["uri"] as? String == uri)
      #expect(answer["kind"] as? String == kind)
      #expect(answer["handler"] is NSNull)
      #expect(answer["candidates"] as? [String] == [])
      #expect(answer["trusted"] is Bool)
      #expect((answer["reason"] as? String)?.isEmpty == false)
    }

    let handlers = try #require(try await json(desktop, "handlers") as? [[String: Any]])
    #expect(handlers.count == 1)
    #expect(handlers[0]["id"] as? String == HandlerStandIn.desktopID)
    #expect(handlers[0]["name"] as? String == "Menu")
    #expect(handlers[0]["domains"] as? [String] == ["menu.example.com"])
    // If the tests do not run as root, no entry is installed by the system. The user allows the app instead.
    #expect(handlers[0]["trusted"] as? Bool == (geteuid() == 0))
  }

  @Test func `monitor prints one JSON object per line`() async throws {
    let (desktop, server) = try await Desktop.started()
    try await desktop.status(\.scanning)
    let monitor = try await desktop.installation.start("tagroute", ["monitor", "--json"])
    let status = try Self.object(try await monitor.line(containing: #""event":"status""#))
    #expect(status["scanning"] as? Bool == true)
    #expect(status["suspendReasons"] as? [String] == [])
    #expect((status["readers"] as? [[String: Any]])?.count == 1)

    try await desktop.place(try Tag(7))
    let tap = try Self.object(try await monitor.line(containing: #""event":"tap""#))
    let id = try #require(tap["id"] as? String)
    #expect(UUID(uuidString: id) != nil)
    #expect(tap["uri"] as? String == "https://menu.example.com/table/7")
    #expect(tap["handler"] as? String == HandlerStandIn.desktopID)
    let resolved = try await object(desktop, "resolve", "https://menu.example.com/table/7")
    #expect((tap["reason"] as? String)?.contains("menu.example.com") == true)
    #expect(tap["reason"] as? String == resolved["reason"] as? String)
    let claimants = try #require(tap["claimants"] as? [[String: Any]])
    #expect(claimants.map { $0["id"] as? String } == [HandlerStandIn.desktopID])
    #expect((claimants.first?["reason"] as? String)?.isEmpty == false)
    try await server.click(try await desktop.notification(on: server))
    let closed = try Self.object(try await monitor.line(containing: #""event":"tap-closed""#))
    #expect(closed["id"] as? String == id)
    #expect(closed["state"] as? String == "delivered")
    #expect(closed["reason"] is NSNull && closed["title"] is NSNull)

    try await desktop.place(try Tag(8, uri: "javascript:alert(1)"))
    let refused = try Self.object(try await monitor.line(containing: #""state":"failed""#))
    let why = try await object(desktop, "resolve", "javascript:alert(1)")
    #expect((refused["reason"] as? String)?.contains("javascript") == true)
    #expect(refused["reason"] as? String == why["reason"] as? String)

    let daemon = try await desktop.daemon
    try await daemon.exit(after: SIGTERM)
    #expect(try Self.object(try await monitor.line(containing: "daemon-gone"))["event"] as? String == "daemon-gone")
    try await monitor.exit(after: SIGINT)
    #expect(await monitor.log().allSatisfy { (try? Self.object($0))?["event"] is String })
  }

  @Test(arguments: [["status"], ["monitor"], ["resolve", "https://example.com"], ["handlers"]])
  func `a command reports that the daemon or the agent is missing`(arguments: [String]) async throws {
    let desktop = try await Desktop(
      starter: "`a command reports that the daemon or the agent is missing`_\(arguments[0])")
    let process = try await desktop.installation.start("tagroute", arguments + ["--json"])
    guard arguments != ["monitor"] else {
      // The command waits for the daemon instead of failing.
      #expect(try Self.object(try await process.line(containing: "event"))["event"] as? String == "daemon-gone")
      try await process.exit(after: SIGINT)
      return
    }
    #expect(try await process.exit() == .exited(Names.ExitCode.unavailable))
    #expect(await process.standardOutput().isEmpty)
    #expect(await process.log().first?.hasPrefix("tagroute: the ") == true)
  }
}
