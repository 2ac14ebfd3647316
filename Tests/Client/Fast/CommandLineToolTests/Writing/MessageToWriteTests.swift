import Foundation
import NDEF
import Rig
import Routing
import Testing
import UniversalLinks

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
}

/// `write` writes what `resolve`, and so a tap, offers. Each row of `typed-links.jsonl` has what a person types, and the
/// link on the tag; null if it is refused.
@Suite struct TypedLinkTests {
  private static func rows() throws -> [[String?]] {
    let path = "\(repositoryRoot)/Tests/Client/Fast/CommandLineToolTests/Writing/typed-links.jsonl"
    return try readFile(path).split(separator: 0x0A).map { try JSONDecoder().decode([String?].self, from: Data($0)) }
  }

  private static func written(_ option: String, _ text: String) async throws -> [UInt8]? {
    try? await MessageToWrite.build(Command.write.parse(["\(option)=\(text)"])).bytes
  }

  @Test func `a link that is written is the link that a tap offers`() async throws {
    let rows = try Self.rows()
    #expect(rows.count >= 300)
    var wrong: [String] = []
    for row in rows {
      let typed: String = try #require(row.first ?? nil)
      let expected: String? = row.last ?? nil
      let bytes = try await Self.written("--uri", typed)
      let offered = try bytes.flatMap { try Registry().route(for: NDEFMessage(decoding: $0)).uri?.string }
      let poster = try await Self.written("--smart-poster", typed)
      let posters = try poster.flatMap { try Registry().route(for: NDEFMessage(decoding: $0)).uri?.string }
      let resolved = Registry().route(for: NDEFMessage.uri(typed)).uri?.string
      // The tag has the link in one spelling, and `resolve` agrees, unless a host was completed.
      let isSame = try bytes == expected.map { try NDEFMessage.uri($0).encoded() } && offered == expected
      let isCompleted = !typed.contains(/^\s*[A-Za-z][A-Za-z0-9+.\-]*:/)
      let agrees = resolved == expected || (resolved == nil && isCompleted) || TypedLinkTests.isHostWithPort(typed)
      if !isSame || posters != expected || !agrees {
        wrong.append("\(typed.debugDescription): \(offered ?? "refused")")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test func `a host without a scheme is meant as a link only if no file has its name`() {
    for word in ["https://a.example/", "tel:1", "a.example", "card.vcf", "no link"] {
      let isMeant = [true, false].map { isFile in TypedLink.isMeant(by: word) { _ in isFile } }
      #expect(isMeant == (word == "no link" ? [false, false] : [word.contains(":"), true]), "\(word)")
    }
  }

  /// `resolve` takes the host for a scheme.
  private static func isHostWithPort(_ text: String) -> Bool {
    text.contains(/^\s*([a-z0-9\-]+\.[a-z0-9.\-]+|localhost):[0-9]/)
  }

  @Test(arguments: [
    ["--text", ""], ["--text", " \n"], ["--text", "\u{200B}"], ["--text", "\u{2060}\u{FEFF} \u{3164}\u{2800}"],
    ["--smart-poster", "tel:1", "--title", "\u{200B}"], ["--mime", "inode/directory", "/dev/null"],
    ["--mime", "x-scheme-handler/https", "/dev/null"], ["--mime", "text/a#b", "/dev/null"],
    ["--external-text", "example.com:a:b", "x"], ["--external-text", "example.com:a=b", "x"],
  ])
  func `what no tap would offer is refused`(words: [String]) async {
    await #expect(throws: Failure.self) { try await MessageToWrite.build(Command.write.parse(words)) }
  }

  @Test func `the output names links that differ from what was typed`() async throws {
    let words = ["--uri", "example.com/a b", "--uri", "tel:1", "--smart-poster", " tel:2"]
    #expect(
      try await MessageToWrite.build(Command.write.parse(words)).respelled == ["https://example.com/a%20b", "tel:2"])
  }

  @Test func `the implied prefix of external types is not written`() async throws {
    let words = ["--external-text", "urn:nfc:ext:Example.com:a", "x"]
    let expected = try NDEFMessage(records: [.external("example.com:a", payload: [0x78])]).encoded()
    #expect(try await MessageToWrite.build(Command.write.parse(words)).bytes == expected)
  }
}
