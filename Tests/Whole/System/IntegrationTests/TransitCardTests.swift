import TestKit
import Testing

/// The examples with the real daemon and a simulated transit card, which returns at most 12 blocks at once.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TransitCardTests {
  @Test(arguments: ["swift", "python"]) func `the history of a card is printed`(language: String) async throws {
    let (desktop, _) = try await Desktop.scanning(starter: "`the history of a card is printed`_\(language)")
    try await desktop.installation.simulate("tap --type transit")
    let script = repositoryRoot + "/Examples/suica.py"
    let process =
      language == "swift"
      ? try await desktop.installation.start("suica")
      : try await desktop.installation.start("/usr/bin/python3", [script])
    let status = try await process.exit()
    let log = await process.log()
    #expect(status == .exited(0), "\(log)")
    #expect(log.count == 20)
    #expect(log.first == "2024-11-28  E30F → E310  ¥1000")
    #expect(log.last == "2024-11-09  E322 → E323  ¥4990")
  }
}
