import Rig
import Testing
import UniversalLinks

@Suite struct URIFuzzTests {
  private static let pieces = [
    "http", "https", ":", "//", "/", "@", "?", "#", "%", "%41", "[", "]", "::1", "example", ".", "com", "xn--", "-",
    "\\",
    "é", "\u{202E}", "\u{0}", "0x7f", "127", "*", "8080", "mailto", " ", "A", "..", "\u{3002}", "javascript",
  ]

  @Test func `an accepted URI is ASCII, has no user information and parses to itself`() throws {
    var random = SeededGenerator(seed: 1)
    var count = 0
    for _ in 0..<20_000 {
      var text = Bool.random(using: &random) ? "https://example.com" : ""
      for _ in 0..<Int.random(in: 0...8, using: &random) { text += Self.pieces.randomElement(using: &random) ?? "" }
      guard let uri = try? URI(text) else { continue }
      count += 1
      let string = uri.string
      #expect(string.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(string)")
      #expect(try URI(string) == uri, "\(string)")
      #expect(!uri.isWeb || uri.host?.text.contains("@") == false, "\(string)")
      let owned = PublicSuffixList.system.registrableDomain(of: uri.host?.text ?? "")?.count ?? 0
      #expect(uri.display(limit: 40).count <= max(40, "…".count + owned + ":65535".count), "\(string)")
    }
    #expect(count > 1000, "the pieces form too few well-formed URIs")
  }
}
