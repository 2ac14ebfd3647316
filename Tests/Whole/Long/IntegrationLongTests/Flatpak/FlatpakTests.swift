import Glibc
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// Taps for apps in the sandbox of the real Flatpak.
@Suite(
  .timeLimit(.minutes(10)), StopsAtEnd(),
  .enabled("this needs flatpak and user namespaces: apps in a Flatpak are NOT TESTED") {
    await FlatpakApps.isPossible()
  })
struct FlatpakTests {
  private let text = NDEFRecord.wellKnown("T", payload: Array("\u{2}ensoup".utf8))

  @Test func `apps in a Flatpak get the link and the whole message, as their exported entries say`() async throws {
    let starter = "`apps in a Flatpak get the link and the whole message`"
    let apps = try FlatpakApps(starter: starter)
    let desktop = try await Desktop(environment: apps.environment, starter: starter)
    try await apps.install(for: desktop)
    for id in ["org.example.Table", "org.example.CHandler"] {
      // What this test is about: if Flatpak ceases to rewrite the entry like this, the documentation has to change.
      let entry = String(decoding: try readFile(apps.entry(id)), as: UTF8.self)
      let parts = entry.split(separator: "[org.tagroute.Handler1]")
      try #require(parts.count == 2, "\(entry)")
      #expect(parts[0].contains("X-Flatpak=\(id)\n") && !entry.contains("TryExec"), "\(entry)")
      #expect(parts[1].contains("Exec=") && parts[1].contains("\nLinksInline={"), "\(entry)")
    }
    #expect(access(apps.entry("table").replacing(".desktop", with: ".json"), F_OK) != 0)

    let server = try await desktop.startWithServer()
    let check = try await desktop.installation.start("tagroute", ["handlers", "--check"])
    let status = try await check.exit()
    let problems = await check.log()
    #expect(status == .exited(0), "\(problems)")

    try await isOpened(
      "org.example.Table", link: "https://table.example.com/table/7", number: 1, apps, desktop, server
    ) { message in
      [
        "in a sandbox", "arguments: 1", "link: https://table.example.com/table/7", "uid: 04-00-00-00-00-00-01",
        "message: " + message.map(hexadecimal).joined(separator: " "),
      ]
    }
    try await isOpened(
      "org.example.CHandler", link: "https://c.example.com/table/8", number: 2, apps, desktop, server
    ) { _ in
      [
        "link: https://c.example.com/table/8", "tag: 04-00-00-00-00-00-02 type-2",
        "record 1: 1 U: .c.example.com/table/8", "record 2: 1 T: .ensoup",
      ]
    }

    // The path rules have survived the export.
    for link in ["https://table.example.com/bill", "https://c.example.com/bill"] {
      let resolve = try await desktop.installation.start("tagroute", ["resolve", "--explain", link])
      try await resolve.exit()
      let explanation = await resolve.standardOutput()
      #expect(explanation.contains("none of its path rules covers it"), "\(explanation)")
    }
  }

  /// Taps a tag with a link and a text, permits the app to open it, and compares what the app prints.
  private func isOpened(
    _ id: String, link: String, number: Int, _ apps: FlatpakApps, _ desktop: Desktop,
    _ server: NotificationServerStandIn, prints expected: ([UInt8]) -> [String]
  ) async throws {
    let printed = try apps.output(of: id, in: desktop)
    let tag = try Tag(number, uri: link, others: [text])
    try await desktop.place(tag)
    let shown = try await desktop.notification(on: server)
    // A store's app needs permission.
    #expect(shown.actions.contains("allow"), "\(shown)")
    try await server.click(shown, action: "allow")
    try await desktop.agent.line(containing: "was handed to \(id).desktop")
    let lines = expected(tag.message)
    try await printed.line(containing: try #require(lines.last))
    #expect(await printed.log() == lines)
    printed.signal(SIGKILL)
    try await desktop.remove()
  }

  private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
