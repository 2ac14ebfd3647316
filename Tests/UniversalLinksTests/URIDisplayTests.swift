import Testing
import UniversalLinks

@Suite struct URIDisplayTests {
  @Test(
    "shows where a link leads, without its scheme",
    arguments: [
      ("https://Menu.Example.com/", "menu.example.com"),
      ("https://menu.example.com", "menu.example.com"),
      ("https://menu.example.com/table/7", "menu.example.com/table/7"),
      ("https://menu.example.com/table?id=7#top", "menu.example.com/table?…"),
      ("https://menu.example.com/?id=7", "menu.example.com/?…"),
      ("https://menu.example.com:8443/x", "menu.example.com:8443/x"),
      ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
      ("https://example.com.evil.example/", "example.com.evil.example"),
      ("https://[::1]/x", "[::1]/x"),
      ("tel:+49301234", "+49301234"),
      ("mailto:somebody@example.com", "somebody@example.com"),
      ("geo:52.5,13.4", "geo:52.5,13.4"),
      ("app://Host/path", "app://Host/path"),
      ("https://example.com/日本", "example.com/日本"),
      ("https://example.com/caf%C3%A9", "example.com/café"),
    ])
  func shown(text: String, expected: String) throws {
    #expect(try URI(text).display() == expected)
  }

  @Test(
    "leaves encoded what is invisible, turns the text around, has a meaning or is no UTF-8",
    arguments: [
      "%E2%80%AE", "%E2%81%A6", "%E2%80%8B", "%EF%BB%BF", "%C2%A0", "%C2%AD", "%CC%81", "%F3%A0%80%81", "%E2%88%95",
      "%2F",
      "%00", "%0A", "%1B", "%25", "%3F", "%C2%85", "%FF", "%C0%AF", "%ED%A0%80", "%E4%BD", "%EE%80%80", "%E3%85%A4",
    ])
  func encoded(piece: String) throws {
    #expect(try URI("https://example.com/a\(piece)b").display() == "example.com/a\(piece)b")
  }

  @Test("shortens in the middle and keeps the host")
  func elided() throws {
    let path = "/start/" + String(repeating: "x", count: 300) + "/end"
    let shown = try URI("https://menu.example.com\(path)").display(limit: 40)
    #expect(shown.count == 40)
    #expect(shown.hasPrefix("menu.example.com/start/"))
    #expect(shown.contains("…"))
    #expect(shown.hasSuffix("x/end"))
  }

  @Test("of a host that is too long, the end stays, for there stands whose it is")
  func longHost() throws {
    let host = (0..<12).map { "example-com-\($0)" }.joined(separator: ".") + ".evil.example"
    let shown = try URI("https://\(host)/login").display(limit: 30)
    #expect(shown.count == 30)
    #expect(shown.hasPrefix("…"))
    #expect(shown.hasSuffix(".evil.example"))
  }

  @Test("is never longer than asked for", arguments: 16...60)
  func bounded(limit: Int) throws {
    for path in ["", "/", "/a", "/" + String(repeating: "ab/", count: 40)] {
      for host in ["a.example", "quite-a-long-name.of-a-host.example"] {
        #expect(try URI("https://\(host)\(path)?q").display(limit: limit).count <= limit)
      }
    }
  }
}
