import Foundation
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// The commands for tags with the real daemon, reader process and libnfc, and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagsByCommandTests {
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
  }
}

/// `tagroute write` with the real daemon, reader process and libnfc, and a simulated chip. The tag is compared byte for
/// byte. ndeflib reads the same Wi-Fi network from these bytes (Tests/Tag/Fast/NDEFTests/Differential).
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct WritingTests {
  /// Places an NTAG215 with zeros from page 3 on.
  private func placeBlankTag(_ desktop: Desktop) async throws {
    let pages: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0, 0]
    let memory = try desktop.installation.directory.write(pages + [UInt8](repeating: 0, count: 508), to: "tags/blank")
    try await desktop.installation.simulate("tap --type 2 --model ntag215 --memory \(memory)")
  }

  /// FAST_READ of pages 3 to `last`.
  private func pages(_ desktop: Desktop, last: String) async throws -> String {
    let result = try await desktop.installation.tagroute(["transceive", "3A03\(last)"])
    #expect(result.status == .exited(0), "\(result.log)")
    return result.output
  }

  @Test func `a blank tag is formatted if that is asked for`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await placeBlankTag(desktop)
    let refused = try await desktop.installation.tagroute(["write", "--uri", "https://example.com"])
    #expect(refused.status == .exited(1), "\(refused.log)")
    #expect(refused.log.contains { $0.contains("blank") && $0.contains("--format") }, "\(refused.log)")
    #expect(try await pages(desktop, last: "05") == String(repeating: "00", count: 12) + "\n")
    let written = try await desktop.installation.tagroute([
      "write", "--format", "--uri", "https://example.com", "--text", "b",
    ])
    #expect(written.status == .exited(0), "\(written.log)")
    // The container, the TLV, the link, the text, the terminator.
    let expected = "E1103E00" + "0318" + "91010C55046578616D706C652E636F6D" + "5101045402656E62" + "FE00" + "\n"
    #expect(try await pages(desktop, last: "0A") == expected)
    // The tag is formatted now, so the option has no effect.
    #expect(try await desktop.installation.tagroute(["write", "--format", "--text", "c"]).status == .exited(0))
  }

  @Test func `two tags that lie there together are not written`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await desktop.place(try Tag(1))
    let file = try desktop.installation.directory.write(try Tag(2).message, to: "tags/second.ndef")
    try await desktop.installation.simulate("tap --type 2 --ndef \(file) --uid 08010203 --add")
    let both = try await desktop.installation.tagroute(["write", "--uri", "https://example.com"])
    #expect(both.status == .exited(Names.ExitCode.tryAgain), "\(both.log)")
    #expect(both.log.contains { $0.contains("2 tags lie on the reader: take all but one away") }, "\(both.log)")
    try await desktop.installation.simulate("remove 1")
    let left = try #require(try await desktop.installation.object("read")["message"] as? String)
    #expect(Hexadecimal.bytes(left) == (try Tag(2).message))
    let one = try await desktop.installation.tagroute(["write", "--uri", "https://example.com"])
    #expect(one.status == .exited(0), "\(one.log)")
  }

  @Test func `a Wi-Fi network and a contact card are on the tag as they should be`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await placeBlankTag(desktop)
    let password = try desktop.installation.directory.write("visitors\n", to: "tags/password")
    let card = try desktop.installation.directory.write("BEGIN:VCARD\r\nEND:VCARD\r\n", to: "tags/card.vcf")
    let result = try await desktop.installation.tagroute([
      "write", "--format", "--wifi", "Guest", "--password-file", password, "--vcard", card, "--geo", "48.2,16.3",
    ])
    #expect(result.status == .exited(0), "\(result.log)")
    let object = try await desktop.installation.object("read")
    let network =
      "921734" + "6170706C69636174696F6E2F766E642E7766612E777363" + "100E0030" + "1026000101" + "104500054775657374"
      + "100300020020" + "100F00020008" + "1027000876697369746F7273" + "10200006FFFFFFFFFFFF"
    let contact = "120A18" + "746578742F7663617264" + "424547494E3A56434152440D0A454E443A56434152440D0A"
    let place = "51010E55" + "0067656F3A34382E322C31362E33"
    #expect(object["message"] as? String == network + contact + place)
    // The password is not on the command line, and a command without a terminal does not ask.
    #expect(
      try await desktop.installation.tagroute(["write", "--wifi", "Guest"]).status == .exited(Names.ExitCode.usage))
  }

  @Test func `read says in words what write has written`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await desktop.place(try Tag(1))
    let directory = desktop.installation.directory
    let password = try directory.write("visitors\n", to: "tags/password")
    let card = try directory.write(
      "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\r\nORG:Engines\r\nTEL:+44 20\r\nEMAIL:ada@example.com\r\nEND:VCARD\r\n",
      to: "tags/card.vcf")
    let picture = try directory.write([1, 2, 3], to: "tags/a.png")
    let written: [(options: [String], line: String)] = [
      (["--uri", "example.com/menu"], "link: https://example.com/menu"),
      (["--uri", "tel:+15550100"], "link: tel:+15550100"),
      (["--text", "Grüß Gott", "--language", "de"], "text (de): Grüß Gott"),
      (
        ["--smart-poster", "https://example.com/", "--title", "A title"], "smart poster: https://example.com/ (A title)"
      ),
      (
        ["--wifi", "Guest", "--password-file", password], "Wi-Fi network: Guest, WPA2, password: on the tag, not shown"
      ),
      (["--wifi", "Guest", "--no-password"], "Wi-Fi network: Guest, open, no password"),
      (["--vcard", card], "contact: Ada Lovelace, Engines, phone +44 20, mail ada@example.com"),
      (["--geo", "48.2010,16.5"], "place: latitude 48.2010, longitude 16.5"),
      (["--mime", "image/png", picture], "file: image/png, 3 bytes"),
      (["--external-text", "example.com:ticket", "ab"], "data: example.com:ticket, 2 bytes"),
      (["--external-text", "android.com:pkg", "com.example.app"], "app for Android: com.example.app"),
    ]
    for (options, line) in written {
      let result = try await desktop.installation.tagroute(["write"] + options)
      try #require(result.status == .exited(0), "\(options): \(result.log)")
      let lines = try await desktop.installation.output("read").split(separator: "\n").map(String.init)
      #expect(lines.count == 2 && lines.last == "  \(line)", "\(lines)")
      #expect(lines.first?.hasPrefix("type-2 04000000000001: read-write, ") == true, "\(lines)")
    }
  }

  @Test func `a batch writes one tag after the other`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let process = try await desktop.installation.start("tagroute", ["write", "--count", "2", "--text", "b", "--json"])
    try await desktop.status { $0.suspendReasons == ["reader-session"] }
    for number in 1...2 {
      try await desktop.place(try Tag(number))
      _ = try await process.line(after: number - 1) { $0.contains("written") }
      try await desktop.installation.simulate("remove")
    }
    #expect(try await process.exit() == .exited(0))
    let lines = await process.standardOutput().split(separator: "\n")
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("\"written\":8") }, "\(lines)")
  }
}

/// `tagroute run` with the real daemon, and the programs of libnfc with the simulated reader.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LentReaderTests {
  @Test func `another program reads a tag with the lent reader, and then scanning resumes`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let server = try await desktop.startServer()
    try await desktop.place(try Tag(0xABCD))
    #expect(try await desktop.notification(on: server).body == Tag.text(0xABCD))
    let list = try BuiltProducts.systemProgram("nfc-list", package: "libnfc-bin")
    let listed = try await desktop.installation.output("run", "--", list)
    #expect(listed.contains("04  00  00  00  00  ab  cd"), "\(listed)")
    try await desktop.status(\.scanning)
    // The tag that lay there is not announced again, but the next tag is.
    try await desktop.lookedAround()
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))

    // A program also reads the message that tagroute wrote.
    _ = try await desktop.installation.output("write", "--text", "for another program")
    let dump = desktop.installation.directory.file("dump.mfd")
    let program = try BuiltProducts.systemProgram("nfc-mfultralight", package: "libnfc-examples")
    _ = try await desktop.installation.output("run", "--", program, "r", dump)
    let bytes = try readFile(dump)
    #expect(String(decoding: bytes, as: UTF8.self).contains("for another"))
  }
}
