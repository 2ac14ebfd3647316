import Foundation
import Names
import TagrouteClient
import TestKit
import Testing

/// The commands for tags with the real daemon, reader process and libnfc, and a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct TagsByCommandTests {
  @Test func `a tag is read, written and locked, and gets commands`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await desktop.place(try Tag(1))
    let before = try await desktop.installation.object("read")
    #expect(before["status"] as? String == "read-write")
    #expect((before["records"] as? [[String: Any]])?.first?["uri"] as? String == "https://" + Tag.text(1))
    let written = try await desktop.installation.object(
      "write", "--smart-poster", "https://example.com/new", "--title", "New")
    #expect(written["uid"] as? String == before["uid"] as? String)
    let after = try await desktop.installation.object("read")
    let record = try #require((after["records"] as? [[String: Any]])?.first)
    #expect(record["uri"] as? String == "https://example.com/new" && record["text"] as? String == "New")
    #expect((after["message"] as? String)?.count == (written["written"] as? Int).map { 2 * $0 })
    let info = try await desktop.installation.object("info")
    #expect(info["technology"] as? String == "type-2" && info["size"] as? Int == written["written"] as? Int)
    #expect((info["chip"] as? String)?.hasPrefix("NTAG2") == true)
    #expect((info["atqa"] as? String)?.count == 4 && (info["sak"] as? String)?.count == 2)
    let long = try await desktop.installation.tagroute(["write", "--text", String(repeating: "a", count: 4000)])
    #expect(long.status == .exited(1), "\(long.log)")
    #expect((try await desktop.installation.object("read")["records"] as? [Any])?.count == 1)

    let pages = try await desktop.installation.tagroute("transceive", "3000")
    #expect(pages.status == .exited(0), "\(pages.log)")
    #expect(pages.output.count == 33 && pages.output.hasPrefix("04"))
    // WRITE, in a session that may only read.
    #expect(
      try await desktop.installation.tagroute(["transceive", "A20400000000"]).status
        == .exited(Names.ExitCode.notAllowed))
    #expect(try await desktop.installation.tagroute(["transceive", "--write", "A22001020304"]).output == "0A\n")
    // The command refuses a payment card before it looks for one.
    let payment = try await desktop.installation.tagroute(["transceive", "--aid", "A0000000041010", "00"])
    #expect(payment.status == .exited(Names.ExitCode.usage), "\(payment.log)")

    // A lock is permanent.
    #expect(try await desktop.installation.tagroute("lock").status == .exited(Names.ExitCode.usage))
    #expect(try await desktop.installation.object("info")["status"] as? String == "read-write")
    #expect(try await desktop.installation.object("lock", "--yes")["status"] as? String == "read-only")
    #expect(
      try await desktop.installation.tagroute("write", "--text", "a").status == .exited(Names.ExitCode.notAllowed))
    #expect(try await desktop.installation.object("read")["status"] as? String == "read-only")
    // Scanning resumes while the tag still lies there.
    try await desktop.status(\.scanning)
    await desktop.stop()
  }

  @Test func `a signal ends the session of tagroute read, and scanning resumes`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    for number in [SIGINT, SIGTERM] {
      let process = try await desktop.installation.start("tagroute", ["read"])
      try await desktop.status { $0.suspendReasons == ["reader-session"] }
      process.signal(number)
      #expect(try await process.exit() == .signalled(number))
      try await desktop.status(\.scanning)
    }
    await desktop.stop()
  }

  /// The commands of docs/reader-sessions.md, “From a shell”.
  @Test func `the documented shell commands work`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let busctl = try BuiltProducts.systemProgram("busctl", package: "systemd")
    let gdbus = try BuiltProducts.systemProgram("gdbus", package: "libglib2.0-bin")
    let name = Names.Daemon.busName
    let shown = try await desktop.installation.start(busctl, ["--system", "introspect", name, Names.Daemon.path])
    #expect(try await shown.exit() == .exited(0))
    #expect(await shown.log().contains { $0.contains("StartReaderSession") })
    let session = try await desktop.installation.start(
      gdbus,
      [
        "call", "--system", "--dest", name, "--object-path", Names.Daemon.path, "--method",
        "\(name).StartReaderSession", "{'message': <'Hold your card near the reader.'>}",
      ])
    let status = try await session.exit()
    let log = await session.log()
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["(objectpath '\(Names.Daemon.readerSessionsPath)/1',)"])
    // The session ends with its client.
    try await desktop.status(\.scanning)
    await desktop.stop()
  }
}
