import Rig
import Testing

@testable import UniversalLinks

@Suite struct URITests {
  @Test(arguments: [
    ("https://example.com", "https://example.com"), ("https://example.com/", "https://example.com/"),
    ("HTTPS://Menu.EXAMPLE.Com/Table/7?A=b#C", "https://menu.example.com/Table/7?A=b#C"),
    ("https://example.com./menu", "https://example.com/menu"), ("https://example.com:443/", "https://example.com:443/"),
    ("https://example.com:/", "https://example.com/"), ("https://example.com:08443/", "https://example.com:8443/"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://r3---sn-abc.example/", "https://r3---sn-abc.example/"), ("https://192.0.2.7/x", "https://192.0.2.7/x"),
    ("https://[2001:DB8::1]:8080/x", "https://[2001:db8::1]:8080/x"),
    ("https://[::ffff:192.0.2.1]/", "https://[::ffff:192.0.2.1]/"),
    ("https://example.com/%E4%BD%A0?q=%0d%0a", "https://example.com/%E4%BD%A0?q=%0d%0a"),
    ("https://example.com/café", "https://example.com/caf%C3%A9"),
    ("https://example.com/\u{202E}cod.exe", "https://example.com/%E2%80%AEcod.exe"),
    ("https://example.com?@evil.example/", "https://example.com?@evil.example/"),
    ("https://example.com#@evil.example/", "https://example.com#@evil.example/"),
    ("https://example.com/@user", "https://example.com/@user"),
    ("mailto:somebody@example.com?subject=Hi", "mailto:somebody@example.com?subject=Hi"),
    ("tel:+49-30-1234", "tel:+49-30-1234"), ("geo:52.5,13.4;u=35", "geo:52.5,13.4;u=35"),
    ("X-HM://0023ISYWYJ5VQ", "x-hm://0023ISYWYJ5VQ"), ("app://", "app://"),
    ("\t https://example.com/ \r\n", "https://example.com/"), ("https://example.com/\u{0}", "https://example.com/"),
    ("https://my_shop.example.com/_a", "https://my_shop.example.com/_a"),
    ("https://example.com/a b?c d#e f", "https://example.com/a%20b?c%20d#e%20f"),
    ("https://example.com/<b>\"^`{|}[1]", "https://example.com/%3Cb%3E%22%5E%60%7B%7C%7D%5B1%5D"),
    ("https://example.com/?a[]=1\\2", "https://example.com/?a%5B%5D=1%5C2"),
    ("https://example.com/##a#", "https://example.com/#%23a%23"), ("https://example.com/%", "https://example.com/%25"),
    ("https://example.com/%2?%zz#%%41", "https://example.com/%252?%25zz#%25%41"),
    ("https://example.com/%é1", "https://example.com/%25%C3%A91"),
    ("tel:+1 800 123 45 67", "tel:+1%20800%20123%2045%2067"),
    ("sms:+15550100?body=On my way!", "sms:+15550100?body=On%20my%20way!"),
    ("geo:0,0?q=Eiffel Tower", "geo:0,0?q=Eiffel%20Tower"),
    ("x-files:c:\\a", "x-files:c:%5Ca"),
  ])
  func `a well-formed URI is accepted, in one spelling`(text: String, expected: String) throws {
    #expect(try URI(text).string == expected)
    #expect(try URI(expected).string == expected, "parsing the output again changed it")
  }

  @Test(
    arguments: [
      ("https://example.com@evil.example/", .userInformation), ("https://user:password@example.com/", .userInformation),
      ("https://@example.com/", .userInformation), ("ssh://root@example.com/", .userInformation),
      ("https://evil.example\\@example.com/", .userInformation),
      ("https://evil.example\\.example.com/", .forbiddenCharacter), ("https:\\\\example.com/", .badHost),
      ("https://example.com/a\\b", .forbiddenCharacter), ("https:/example.com/", .badHost),
      ("https:example.com", .badHost), ("https:///example.com", .badHost), ("https://", .badHost),
      ("https://:443/", .badHost), ("https://./", .badHost), ("https://example.com../", .badHost),
      ("https://a..example.com/", .badHost), ("https://.example.com/", .badHost), ("https://-a.example.com/", .badHost),
      ("https://a-.example.com/", .badHost), (" \t", .badScheme), ("https://*.example.com/", .badHost),
      ("https://ex%61mple.com/", .badHost), ("https://example.com%2eevil.example/", .badHost),
      ("https://example.com%00.evil.example/", .badHost), ("https://127.1/", .badHost),
      ("https://2130706433/", .badHost), ("https://0x7f000001/", .badHost), ("https://192.0.2.256/", .badHost),
      ("https://192.0.2.07/", .badHost), ("https://example.0x/", .badHost), ("https://[::1/", .badHost),
      ("https://[::1%25eth0]/", .badHost), ("https://[1:2:3:4:5:6:7]/", .badHost), ("https://[1::2::3]/", .badHost),
      ("https://[1:2:3:4:5:6:7:8::]/", .badHost), ("https://[v1.fe80]/", .badHost),
      ("https://[::1]evil.example/", .badPort), ("https://example.com:https/", .badPort),
      ("https://example.com:65536/", .badPort), ("https://example.com:-1/", .badPort),
      ("https://example.com:80:80/", .badPort), ("https://example.com/a\nb", .forbiddenCharacter),
      ("https://example.com/a\u{0}b", .forbiddenCharacter), ("https://exa mple.com/", .badHost),
      ("https://example.com/\u{7F}", .forbiddenCharacter), ("https://example.com/\u{85}", .forbiddenCharacter),
      ("java\tscript:alert(1)", .forbiddenCharacter), ("//example.com/", .badScheme), ("www.example.com", .badScheme),
      ("", .badScheme), (":", .badScheme), ("1a:b", .badScheme), ("ht tp://example.com", .badScheme),
      ("JavaScript:alert(1)", .forbiddenScheme), ("data:text/html,x", .forbiddenScheme),
      ("FILE:///etc/passwd", .forbiddenScheme), ("vbscript:x", .forbiddenScheme), ("about:blank", .forbiddenScheme),
      ("blob:https://example.com/1", .forbiddenScheme), ("intent://example.com#Intent;end", .forbiddenScheme),
      ("view-source:https://example.com", .forbiddenScheme),
    ] as [(String, URIError.Code)])
  func `a misleading or malformed URI is rejected with its error code`(text: String, code: URIError.Code) {
    let error = #expect(throws: URIError.self) { try URI(text) }
    #expect(error?.code == code, "\(error?.message ?? "no error")")
    #expect(error?.message.isEmpty == false)
  }

  @Test func `a URI has at most 8 KiB before and after percent-encoding`() throws {
    let prefix = "https://example.com/"
    let longest = prefix + String(repeating: "a", count: URI.maximumLength - prefix.utf8.count)
    #expect(try URI(longest).string == longest)
    #expect(throws: URIError.self) { try URI(longest + "a") }
    let growing = prefix + String(repeating: "é", count: 3000)
    #expect(growing.utf8.count < URI.maximumLength)
    let error = #expect(throws: URIError.self) { try URI(growing) }
    #expect(error?.code == .tooLong)
  }

  @Test func `the length of labels and host names is limited`() throws {
    let label = String(repeating: "a", count: 63)
    #expect(try URI("https://\(label).example/").host?.text == "\(label).example")
    #expect(throws: URIError.self) { try URI("https://\(label)a.example/") }
    let host = "\(label).\(label).\(label).\(String(repeating: "b", count: 61))"
    #expect(host.utf8.count == 253)
    #expect(try URI("https://\(host)/").host?.text == host)
    #expect(throws: URIError.self) { try URI("https://\(host)b/") }
  }

  @Test(arguments: [
    ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
    ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("straße.example", "xn--strae-oqa.example"),
    ("日本語。jp", "xn--wgv71a119e.jp"), ("example\u{FF0E}com", "example.com"), ("ｅxample.com", "example.com"),
    ("exam\u{AD}ple.com", "example.com"), ("\u{0435}xample.com", "xn--xample-2of.com"),
    ("xn--BCHER-kva.example", "xn--bcher-kva.example"), ("xn--ls8h.la", "xn--ls8h.la"),
    ("bücher.example.", "xn--bcher-kva.example"), ("ü_.com", "xn--_-dha.com"), ("１９２.0.2.1", "192.0.2.1"),
  ])
  func `UTS #46 and IDNA 2008: a host is converted to its ASCII form`(host: String, expected: String) throws {
    let uri = try URI("https://\(host)/ü")
    #expect(uri.string == "https://\(expected)/%C3%BC")
    #expect(try URI(uri.string) == uri)
  }

  @Test(arguments: [
    "i❤.ws", "💩.la", "a\u{200C}b.com", "אa.com", "ex℀mple.com", "a\u{FF0F}b.com", "a\u{FF20}b.com", "ü..com",
    "ü.-a.com", "０ｘ7f.1", "１２７.1", "⒈ü.com", "\u{301}a.com", "ü%41.com", "xn--zzzzzzzz.ü.com", "r3---ü.com",
    "\u{202E}ü.com", "ü\u{200B}\u{2060}\u{E0041}.com", "\u{AD}",
  ])
  func `a host without a valid ASCII form is rejected`(host: String) {
    let error = #expect(throws: URIError.self) { try URI("https://\(host)/") }
    #expect(error?.code == .badHost, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("0:0:0:0:0:0:0:1", "::1"), ("::", "::"), ("0:0:0:0:0:0:0:0", "::"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ("fe80:0:0:0:1:2:3:0", "fe80::1:2:3:0"), ("::ffff:c000:0201", "::ffff:192.0.2.1"),
    ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("0001::000A", "1::a"),
  ])
  func `RFC 5952: an IPv6 address has one spelling`(text: String, expected: String) throws {
    #expect(try URI("https://[\(text)]/").host?.text == expected)
    #expect(try URI("https://[\(expected)]/").host?.text == expected)
  }

  @Test(
    arguments: [
      ("https://example.com/", "example.com"), ("http://example.com/", "example.com"),
      ("https://example.com:443/", "example.com"), ("http://example.com:80/", "example.com"),
      ("https://example.com:80/", nil), ("https://example.com:8443/", nil), ("https://192.0.2.1/", nil),
      ("https://[::1]/", nil), ("app://example.com/", nil), ("tel:1", nil),
    ] as [(String, String?)])
  func `only a web link on the default port has a link domain`(text: String, expected: String?) throws {
    #expect(try URI(text).linkDomain == expected)
  }

  @Test func `a URI is split into its components`() throws {
    let uri = try URI("https://example.com:8443/a?b?c#d?e")
    #expect(uri.scheme == "https")
    #expect(uri.host?.text == "example.com")
    #expect(uri.port == 8443)
    #expect(uri.path == "/a")
    #expect(uri.query == "b?c")
    #expect(uri.fragment == "d?e")
    let empty = try URI("https://example.com?#")
    #expect(empty.path.isEmpty)
    #expect(empty.query == "" && empty.fragment == "")
  }
}

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

@Suite struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("%61", "a"), ("%C3%A9", "é"), ("%e6%97%a5", "日"), ("%F0%9F%98%80", "😀"), ("a%62c", "abc"),
    // Bytes that are not UTF-8. Only these bytes stay encoded.
    ("%FF", "%FF"), ("%ff", "%FF"), ("%62ill%FF", "bill%FF"), ("%FF%62ill", "%FFbill"), ("%C3", "%C3"),
    ("%C3%62", "%C3b"), ("%C3%28%C3%A9", "%C3(é"), ("%A9%C3%A9", "%A9é"), ("%E6%97x", "%E6%97x"),
    ("%E6%97", "%E6%97"),
    ("%F0%9F%98%62", "%F0%9F%98b"),
    // An overlong form, half of a surrogate pair, a value above the last character.
    ("%C0%AF", "%C0%AF"), ("%ED%A0%80", "%ED%A0%80"), ("%F4%90%80%80", "%F4%90%80%80"),
    // Text is decoded only once.
    ("%2561", "%61"), ("%252F", "%2F"),
    // These are not escapes.
    ("%", "%"), ("%6", "%6"), ("%zz", "%zz"), ("%%61", "%a"), ("a%", "a%"),
  ])
  func `only escapes that form valid UTF-8 are decoded`(text: String, expected: String) {
    #expect(PercentEncoding.decoded(text) == expected)
  }

  @Test(arguments: [
    ("%2f", "%2F"), ("%c3%a9", "%C3%A9"), ("%62ill", "bill"), ("%7E%2D%5f%2E%41%39", "~-_.A9"),
    ("%2a%3F%24", "%2A%3F%24"),
    ("%2561", "%2561"), ("%", "%"), ("%6", "%6"), ("%zz%61", "%zza"),
  ])
  func `text that stays encoded has one spelling`(text: String, expected: String) {
    #expect(PercentEncoding.normalized(text) == expected)
    #expect(PercentEncoding.normalized(expected) == expected)
  }

  @Test(arguments: [true, false]) func `no spelling of a link bypasses an exclusion`(isEncoded: Bool) throws {
    let association = try appLinks(#"{"/": "/bill*", "exclude": true, "percentEncoded": \#(isEncoded)}, {"/": "*"}"#)
    for path in ["/bill", "/%62ill", "/bil%6C", "/bil%6c/%FF", "/%62%69%6C%6C%C3", "/bill%E6%97", "/bill%2561"] {
      guard case .excluded = association.verdict(on: try URI("https://example.com\(path)"), for: { _ in true }) else {
        Issue.record("\(path) is not excluded")
        continue
      }
    }
  }

  @Test func `names of query items are compared by their bytes`() throws {
    let association = try appLinks(#"{"?": {"caf\u00E9": "1"}}"#)
    func isIn(_ query: String) throws -> Bool { association.opens(try URI("https://example.com/?\(query)")) }
    #expect(try isIn("caf%C3%A9=1"))
    // Swift treats this spelling as the same text, but for a server it is another name.
    #expect(try !isIn("cafe%CC%81=1"))
    #expect(try isIn("caf%C3%A9=1&cafe%CC%81=2"))
  }
}
