import NDEF
import Records
import Rig
import Testing

@testable import CommandLineTool

@Suite struct MessageToWriteTests {
  private static func bytes(_ words: [String]) async throws -> [UInt8] {
    try await MessageToWrite.build(Command.write.parse(words)).bytes
  }

  private static func message(_ records: [NDEFRecord]) throws -> [UInt8] {
    try NDEFMessage(records: records).encoded()
  }

  @Test func `the options of write build the message`() async throws {
    #expect(
      try await Self.bytes(["--uri", "https://example.com"]) == (try NDEFMessage.uri("https://example.com").encoded()))
    let text = try Self.message([TextRecord("a", language: "de").record()])
    #expect(try await Self.bytes(["--text", "a", "--language=de"]) == text)
    let poster = SmartPosterRecord(uri: "tel:+1", titles: [TextRecord("a", language: "en")])
    let posters = try Self.message([poster.record()])
    #expect(try await Self.bytes(["--smart-poster", "tel:+1", "--title", "a"]) == posters)
    let place = try Self.message([URIRecord("geo:-48.2010,16").record()])
    #expect(try await Self.bytes(["--geo", "-48.2010,16"]) == place)
  }

  @Test func `records keep the order of the command line`() async throws {
    let words = [
      "--external-text", "example.com:Ticket", "7", "--text", "b", "--uri", "tel:1", "--external-text",
      "android.com:pkg", "org.example.app", "--text", "c",
    ]
    let expected = try Self.message([
      .external("example.com:ticket", payload: Array("7".utf8)), TextRecord("b", language: "en").record(),
      URIRecord("tel:1").record(), .external("android.com:pkg", payload: Array("org.example.app".utf8)),
      TextRecord("c", language: "en").record(),
    ])
    #expect(try await Self.bytes(words) == expected)
  }

  @Test func `files become records`() async throws {
    let folder = try TemporaryDirectory()
    defer { withExtendedLifetime(folder) {} }
    let card = Array("begin:vcard\r\nVERSION:4.0\r\nFN:A\r\nEND:VCARD\r\n".utf8)
    let cardFile = try folder.write(card, to: "card.vcf")
    #expect(try await Self.bytes(["--vcard", cardFile]) == Self.message([.media("text/vcard", payload: card)]))
    let picture = try folder.write([0x89, 0x50, 0, 0xFF], to: "picture")
    let contents: [UInt8] = [0x89, 0x50, 0, 0xFF]
    let media = try Self.message([.media("image/png", payload: contents)])
    #expect(try await Self.bytes(["--mime", "image/png", picture]) == media)
    let external = try Self.message([.external("a.b:c", payload: contents)])
    #expect(try await Self.bytes(["--external=a.b:c", picture]) == external)
    // A chunked record stays as it is if it is alone.
    let chunked: [UInt8] = [0xB1, 1, 1, 0x55, 4, 0x56, 0, 1, 0x61]
    let file = try folder.write(chunked, to: "message")
    #expect(try await Self.bytes(["--ndef", file]) == chunked)
    let both = try Self.message([URIRecord("https://a").record(), TextRecord("b", language: "en").record()])
    #expect(try await Self.bytes(["--ndef", file, "--text", "b"]) == both)
    await #expect(throws: Failure.self) { try await Self.bytes(["--vcard", picture]) }
    let large = try folder.write([UInt8](repeating: 0x41, count: 1 << 20 | 1), to: "large")
    await #expect(throws: Failure.self) { try await Self.bytes(["--mime", "a/b", large]) }
  }

  @Test func `the password of a network is the first line of a file`() async throws {
    let folder = try TemporaryDirectory()
    defer { withExtendedLifetime(folder) {} }
    let expected = try Self.message([WiFiRecord([WiFiNetwork(ssid: "Guest", passphrase: "visitors 1")]).record()])
    for text in ["visitors 1", "visitors 1\n", "visitors 1\r\nmore\n"] {
      let file = try folder.write(Array(text.utf8), to: "password")
      #expect(try await Self.bytes(["--wifi", "Guest", "--password-file", file]) == expected)
    }
    let open = try Self.message([WiFiRecord([WiFiNetwork(ssid: "Guest", passphrase: nil)]).record()])
    #expect(try await Self.bytes(["--no-password", "--wifi", "Guest"]) == open)
    for text in ["", "short", "\n12345678", "pass\u{7}word"] {
      let file = try folder.write(Array(text.utf8), to: "password")
      await #expect(throws: Failure.self) { try await Self.bytes(["--wifi", "Guest", "--password-file", file]) }
    }
  }

  @Test(
    arguments: [
      [], ["--uri", "a", "--title", "b"], ["--uri", "a", "--language", "en"], ["--text", "a", "--language", "ä"],
      ["--smart-poster", "tel:+1", "--title", " "], ["--smart-poster", "a", "--smart-poster", "b", "--title", "c"],
      ["--ndef", "/nonexistent/file"],
      ["--ndef", "/etc/hostname"], ["--mime", "text", "/etc/hostname"], ["--external-text", "example.com", "a"],
      ["--wifi", "", "--no-password"], ["--wifi", String(repeating: "a", count: 33), "--no-password"],
      ["--wifi", "a", "--no-password", "--password-file", "b"], ["--text", "a", "--no-password"],
      ["--uri", "a", "--password-file", "b"], ["--wifi", "a", "--wifi", "b", "--no-password"],
      ["--geo", "1"], ["--geo", "1,2,3"], ["--geo", "91,0"], ["--geo", "0,180.01"], ["--geo", "0x1,2"],
      ["--geo", "1., 2"], ["--geo", "+1,2"], ["--geo", "nan,inf"], ["--geo", ","], ["--geo", "1e1,2"],
    ])
  func `contradictions and wrong values are rejected`(words: [String]) async {
    await #expect(throws: Failure.self) { try await Self.bytes(words) }
  }

  @Test(arguments: [
    (
      ["--uri", "menu"],
      "no tap would offer this link: the URI has no scheme; write it in full, such as https://example.com/menu or "
        + "tel:+15550100"
    ),
    (["--text", " "], "--text: no tap would show this text: it has no visible character"),
    (
      ["--smart-poster", "tel:1", "--title", " "],
      "--smart-poster: no tap would show this text: it has no visible character"
    ),
    (
      ["--wifi", String(repeating: "a", count: 33), "--no-password"],
      "--wifi: the name of a network has 1 to 32 bytes"
    ),
    (["--geo", "1"], "--geo: write a latitude and a longitude in degrees, such as 48.2010,16.3695"),
    (["--vcard", "/dev/null"], "/dev/null is not a contact card: it does not begin with BEGIN:VCARD"),
    (["--mime", "text", "/dev/null"], "--mime: a media type has the form type/subtype"),
    (["--external-text", "a.b:a=b", "x"], "--external-text: no tap would offer this type: no app can declare it"),
  ])
  func `a wrong record is named by its option`(words: [String], message: String) async {
    let failure = await #expect(throws: Failure.self) { try await Self.bytes(words) }
    #expect(failure == .usage(message))
  }

  @Test func `a host without a scheme is meant as a link only if no file has its name`() {
    for word in ["https://a.example/", "tel:1", "a.example", "card.vcf", "no link"] {
      let isMeant = [true, false].map { isFile in TypedLink.isMeant(by: word) { _ in isFile } }
      #expect(isMeant == (word == "no link" ? [false, false] : [word.contains(":"), true]), "\(word)")
    }
  }

  @Test func `the output names links that differ from what was typed`() async throws {
    let words = ["--uri", "example.com/a b", "--uri", "tel:1", "--smart-poster", " tel:2"]
    #expect(
      try await MessageToWrite.build(Command.write.parse(words)).respelled == ["https://example.com/a%20b", "tel:2"])
  }
}
