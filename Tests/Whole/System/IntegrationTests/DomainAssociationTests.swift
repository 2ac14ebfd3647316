import Foundation
import Names
import TestKit
import Testing

/// Domain associations, from the stored file to the answer of the real agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DomainAssociationTests {
  /// Starts the buses, with a handler that Flatpak has exported. Such a handler is not trusted by default.
  private func installation(
    claiming domain: String, settings: [String: [String]] = [:], starter: String = #function
  ) async throws -> Installation {
    var options = Installation.Options()
    options.agentSettings = settings
    let installation = try await Installation(options, starter: starter)
    atEndOfTest { await installation.stop() }
    let entry = HandlerStandIn.desktopEntry.replacingOccurrences(of: "menu.example.com", with: domain)
    let exported = try installation.directory.write(
      entry, to: "flatpak/exports/share/applications/\(HandlerStandIn.desktopID)")
    mkdir(installation.directory.file("share/applications"), 0o755)
    #expect(symlink(exported, installation.directory.file("share/applications/\(HandlerStandIn.desktopID)")) == 0)
    return installation
  }

  /// Starts the agent and waits for a line of its log.
  private func startAgent(
    _ installation: Installation, until line: String = "the daemon is not on the system bus"
  ) async throws {
    try await installation.startAgent()
    try await #require(await installation.agent).line(containing: line)
  }

  private func isTrusted(_ uri: String, _ installation: Installation) async throws -> Bool? {
    try await installation.object("resolve", uri)["trusted"] as? Bool
  }

  @Test(.enabled(if: getuid() == 0, "only root can create an entry that no other user can write"))
  func `an agent trusts a stored domain association after its start`() async throws {
    let installation = try await installation(claiming: "menu.example.com")
    let now = Int(Date.now.timeIntervalSince1970)
    try installation.directory.write(
      """
      tagroute association 1
      attempted \(now)
      due \(now + 3600)
      failures 0
      file \(now)

      {"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "/table/*"}]}]}}
      """, to: "state/tagroute/associations/apple-app-site-association/menu.example.com")
    try await startAgent(installation)
    #expect(try await isTrusted("https://menu.example.com/table/7", installation) == true)
    #expect(try await isTrusted("https://menu.example.com/else", installation) == false)
  }

  @Test(.enabled(if: getuid() == 0, "only root can create an entry that no other user can write"))
  func `the agent verifies domains if the user turns that on`() async throws {
    // This name is never looked up, so no request leaves the machine.
    let installation = try await installation(claiming: "menu.test", settings: ["Links": ["Verify=on"]])
    try await startAgent(installation, until: "domains were verified")
    for document in ["apple-app-site-association", "assetlinks.json"] {
      let path = installation.directory.file("state/tagroute/associations/\(document)/menu.test")
      #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\nfailure refused "))
    }
    #expect(try await isTrusted("https://menu.test/table/7", installation) == false)
  }

  @Test func `the agent verifies no domain by default, and a failed verification by command is stored`() async throws {
    let installation = try await installation(claiming: "menu.test")
    try await startAgent(installation)
    #expect(try await isTrusted("https://menu.test/table/7", installation) == false)
    #expect(!FileManager.default.fileExists(atPath: installation.directory.file("state/tagroute/associations")))
    let verified = try await installation.tagroute("handlers", "verify", "org.example.Menu", "--json")
    #expect(verified.status == .exited(Names.ExitCode.tryAgain))
    let report = try verified.json() as? [String: Any]
    let domain = try #require((report?["domains"] as? [[String: Any]])?.first)
    #expect(report?["kept"] as? Bool == true)
    #expect(domain["state"] as? String == "failed" && domain["trusted"] as? Bool == false)
    #expect((domain["documents"] as? [[String: Any]])?.allSatisfy { $0["code"] as? String == "refused" } == true)
    #expect(FileManager.default.fileExists(atPath: installation.directory.file("state/tagroute/associations")))
  }
}
