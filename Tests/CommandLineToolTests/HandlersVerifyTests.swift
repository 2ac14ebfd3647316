import Foundation
import TestSupport
import Testing

/// The real program, on a bus where a double answers, and a TLS server that stands for every domain.
@Suite(.timeLimit(.minutes(2))) struct HandlersVerifyTests {
  private func run(
    _ arguments: [String], starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String, errors: [String]) {
    let bus = try await PrivateBus.start()
    let double = try await DaemonDouble(on: bus.address)
    try await double.startAgent()
    defer { withExtendedLifetime(double) {} }
    let folder = try TemporaryDirectory()
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["handlers"] + arguments,
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_STATE_HOME": folder.path,
      ], starter: starter)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "a trial keeps nothing")
    let output = Set(result.output.split(separator: "\n").map(String.init))
    return (result.status, result.output, result.log.filter { !output.contains($0) })
  }

  private func trial(_ address: String) async throws -> [String] {
    ["--server", address, "--authorities", try await AssociationServer.shared.value.authority]
  }

  @Test func aDomainThatNamesItsHandlerVerifiesIt() async throws {
    let server = try await AssociationServer.shared.value
    let text = try await run(["verify", "org.example.Menu"] + trial(server.address))
    #expect(text.errors.isEmpty)
    #expect(text.status == .exited(0))
    #expect(
      text.output == """
        menu.example.com: verified
          apple-app-site-association: names it
          assetlinks.json: names it

        """)
  }

  @Test func jsonHasItsKeys() async throws {
    let server = try await AssociationServer.shared.value
    let text = try await run(["verify", "org.example.Menu.desktop", "--json"] + trial(server.address)).output
    let report = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(report["handler"] as? String == "org.example.Menu.desktop")
    #expect(report["kept"] as? Bool == false)
    let domain = try #require((report["domains"] as? [[String: Any]])?.first)
    #expect(domain["domain"] as? String == "menu.example.com")
    #expect(domain["state"] as? String == "verified")
    #expect(domain["trusted"] as? Bool == true)
    let documents = try #require(domain["documents"] as? [[String: Any]])
    #expect(documents.map { $0["document"] as? String } == ["apple-app-site-association", "assetlinks.json"])
    #expect(documents.allSatisfy { $0["state"] as? String == "named" && $0["reason"] as? String == "" })
  }

  @Test func aDomainThatCannotBeAskedIs75AndSaysWhy() async throws {
    let server = try await AssociationServer.shared.value
    let result = try await run(["verify", "org.example.Menu"] + trial(server.oldAddress))
    #expect(result.status == .exited(75))
    #expect(result.output.hasPrefix("menu.example.com: failed\n  apple-app-site-association: no TLS 1.2"))
  }

  @Test(arguments: [("org.example.Nobody", "no such handler"), ("broken", "no Exec")])
  func aHandlerThatCannotBeVerifiedIs1(id: String, reason: String) async throws {
    let result = try await run(["verify", id])
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(result.errors.first?.contains(reason) == true)
  }

  @Test(arguments: [
    ["verify"], ["verify", "a", "b"], ["verify", "a", "--due"], ["nonsense"], ["--due"], ["--server", "x"],
  ])
  func wrongUsageIs64(arguments: [String]) async throws {
    #expect(try await run(arguments).status == .exited(64))
  }
}
