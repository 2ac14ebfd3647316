import Names
import TagrouteClient
import TestKit
import Testing

/// `tagroute write` with the real daemon, reader process and libnfc, and a simulated chip. The tag is compared byte for
/// byte. ndeflib reads the same Wi-Fi network from these bytes (Tests/Tag/Fast/NDEFTests/Differential).
@Suite(.timeLimit(.minutes(5))) struct WritingTests {
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
    // The tag is formatted now, so the option changes nothing.
    #expect(try await desktop.installation.tagroute(["write", "--format", "--text", "c"]).status == .exited(0))
    await desktop.stop()
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
    await desktop.stop()
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
    await desktop.stop()
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
    await desktop.stop()
  }
}
