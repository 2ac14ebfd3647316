import Testing

@testable import UniversalLinks

@Suite struct URIDisplayTests {
  @Test(arguments: [
    ("https://Menu.Example.com/", "menu.example.com"), ("https://menu.example.com", "menu.example.com"),
    ("https://menu.example.com/table/7", "menu.example.com/table/7"),
    ("https://menu.example.com/table?id=7#top", "menu.example.com/table?…"),
    ("https://menu.example.com/?id=7", "menu.example.com/?…"),
    ("https://menu.example.com:8443/x", "menu.example.com:8443/x"),
    ("https://xn--bcher-kva.example/", "bücher.example"),
    ("https://example.com.evil.example/", "example.com.evil.example"), ("https://[::1]/x", "[::1]/x"),
    ("tel:+49301234", "tel:+49301234"), ("mailto:somebody@example.com", "mailto:somebody@example.com"),
    ("sms:evil.example", "sms:evil.example"), ("geo:52.5,13.4", "geo:52.5,13.4"),
    ("app://Host/path", "app://Host/path"), ("https://example.com/日本", "example.com/日本"),
    ("https://example.com/caf%C3%A9", "example.com/café"), ("https://example.com/メニュー", "example.com/メニュー"),
    ("https://example.com/हिन्दी", "example.com/हिन्दी"), ("https://example.com/ที่", "example.com/ที่"),
    ("https://example.com/a\u{0E35}", "example.com/a%E0%B8%B5"),
    ("https://example.com/ท\u{E35}\u{E48}\u{E48}\u{E48}", "example.com/ท\u{E35}\u{E48}\u{E48}%E0%B9%88"),
    ("mailto:b%C3%A4r@example.com", "mailto:b%C3%A4r@example.com"),
  ])
  func `a web link is shown without its scheme, and other links with it`(text: String, expected: String) throws {
    #expect(try URI(text).display() == expected)
  }

  @Test(arguments: [
    "%E2%80%AE", "%E2%81%A6", "%E2%80%8B", "%EF%BB%BF", "%C2%A0", "%C2%AD", "%CC%81", "%F3%A0%80%81", "%E2%88%95",
    "%2F",
    "%00", "%0A", "%1B", "%25", "%3F", "%C2%85", "%FF", "%C0%AF", "%ED%A0%80", "%E4%BD", "%EE%80%80", "%E3%85%A4",
    "%D7%90", "%D8%A7", "%DB%B1",
  ])
  func `invisible, right-to-left, reserved and invalid characters stay encoded`(piece: String) throws {
    #expect(try URI("https://example.com/a\(piece)b").display() == "example.com/a\(piece)b")
  }

  @Test func `a long link is shortened in the middle and keeps its host`() throws {
    let path = "/start/" + String(repeating: "x", count: 300) + "/end"
    let shown = try URI("https://menu.example.com\(path)").display(limit: 40)
    #expect(shown.count == 40)
    #expect(shown.hasPrefix("menu.example.com/start/"))
    #expect(shown.contains("…"))
    #expect(shown.hasSuffix("x/end"))
  }

  @Test func `a host that is too long keeps its end, which shows the owner`() throws {
    let host = (0..<12).map { "example-com-\($0)" }.joined(separator: ".") + ".evil.example"
    let shown = try URI("https://\(host)/login").display(limit: 30)
    #expect(shown.count == 30)
    #expect(shown.hasPrefix("…"))
    #expect(shown.hasSuffix(".evil.example"))
  }

  @Test(arguments: [
    ("menu.example.com", 40, "menu.example.com"), ("*.menu.example.com", 40, "*.menu.example.com"),
    ("accounts.bank.example.aaaaaaaaaaaaaaaaaaaaaaaaaa.evil.example", 20, "…aaaaaa.evil.example"),
    ("*.bank.example.aaaaaaaaaaaaaaaaaaaaaaaaaa.evil.example", 20, "*.…aaaa.evil.example"),
    ("www.quite-a-long-name-of-one-owner.co.uk", 16, "…quite-a-long-name-of-one-owner.co.uk"),
    ("*.www.quite-a-long-name-of-one-owner.co.uk", 16, "*.…quite-a-long-name-of-one-owner.co.uk"),
    // A registrable domain stays whole.
    ("a-very-long-company-name-that-is-registered.co.uk", 40, "a-very-long-company-name-that-is-registered.co.uk"),
    ("*.a-very-long-company-name-that-is-mine.co.uk", 40, "*.a-very-long-company-name-that-is-mine.co.uk"),
    ("*.xn--bcher-kva.example", 40, "*.bücher.example"),
  ])
  func `a host and a claim are cut at the front, never within the registrable domain`(
    claim: String, limit: Int, expected: String
  ) throws {
    let pattern = try DomainPattern(claim)
    #expect(pattern.display(limit: limit) == expected)
    if !pattern.isWildcard { #expect(try URI("https://\(claim)/").host?.display(limit: limit) == expected) }
  }

  @Test(arguments: [16, 39]) func `a registrable domain is never cut`(limit: Int) throws {
    let host = "a-very-long-name-of-one-owner-only.co.uk"
    #expect(try URI("https://\(host)/").display(limit: limit) == host)
    #expect(try URI("https://www.\(host)/").display(limit: limit) == "…" + host)
  }

  /// Swift treats a run of these as one character, at any length.
  @Test(arguments: ["%E1%84%80", "%E0%A4%95%E0%A5%8D"])
  func `a path or a host that is one Swift character is still cut`(piece: String) throws {
    let path = String(repeating: piece, count: 300)
    for text in ["https://example.com/a/\(path)/b", "https://example.com/\(path)"] {
      let shown = try URI(text).display(limit: 40)
      #expect(shown.hasPrefix("example.com/") && shown.contains("…") && shown.unicodeScalars.count <= 40, "\(shown)")
    }
    let label = String(repeating: "क्", count: 12) + "क"
    let host = "https://\(label).\(label).\(label).evil.example/"
    let shown = try URI(host).display(limit: 30)
    #expect(shown.hasPrefix("…") && shown.hasSuffix(".evil.example"), "\(shown)")
    #expect(shown.unicodeScalars.count <= 30)
    let claim = try #require(try URI(host).host).display(limit: 40)
    #expect(claim.hasSuffix(".evil.example") && claim.unicodeScalars.count <= 40, "\(claim)")
  }

  @Test(arguments: 16...60)
  func `the display is never longer than its limit or the registrable domain`(limit: Int) throws {
    for path in ["", "/", "/a", "/" + String(repeating: "ab/", count: 40)] {
      for host in [
        "a.example", "quite-a-long-name.of-a-host.example", "www.quite-a-long-name.co.uk", "[2001:db8::1:2:3:4]:80",
      ] {
        let shown = try URI("https://\(host)\(path)?q").display(limit: limit)
        #expect(shown.count <= max(limit, 24), "\(shown)")
        #expect(
          ["a.example", "of-a-host.example", "quite-a-long-name.co.uk", "[2001:db8::1:2:3:4]:80"].contains {
            shown.contains($0)
          })
      }
    }
  }

  @Test(
    arguments: [
      ("bücher.example", "bücher.example"), ("straße.example", "straße.example"), ("пример.example", "пример.example"),
      ("παράδειγμα.example", "παράδειγμα.example"), ("日本語.jp", "日本語.jp"), ("スーパーabc.jp", nil), ("スーパー.jp", "スーパー.jp"),
      ("東京tower.jp", "東京tower.jp"), ("ひらがなカタカナ漢字.jp", "ひらがなカタカナ漢字.jp"), ("한국어.kr", "한국어.kr"),
      ("例え7-1.jp", "例え7-1.jp"), ("हिन्दी.example", "हिन्दी.example"), ("ไทย.example", "ไทย.example"),
      ("məktəb.example", "məktəb.example"), ("việtnam.example", "việtnam.example"),
      ("łódź.example", "łódź.example"), ("façade.example", "façade.example"), ("smörgås.example", "smörgås.example"),
      // Marks that are easy to miss.
      ("exạmple.com", nil), ("pạypạl.com", nil), ("googłe.com", nil), ("ąpple.com", nil), ("đropbox.com", nil),
      ("twițțer.com", nil), ("gơơgle.com", nil), ("ọ.example", nil), ("bücher.exạmple.com", nil),
      // Mixed scripts.
      ("\u{0435}xample.com", nil), ("p\u{0430}ypal.com", nil), ("πaypal.com", nil), ("日ひ한.jp", nil),
      ("ไทยa.example", nil),
      // One script that imitates another.
      ("аррӏе.com", nil), ("сосо.com", nil), ("ορο.example", nil), ("օո.example", nil), ("ഠഠ.example", nil),
      ("ббо.example", nil), ("хорсе-1.com", nil),
      // Letters that look like punctuation.
      ("comノlogin.example", nil), ("ノノ.example", nil), ("丶丶.example", nil), ("दुःख.example", "दुःख.example"),
      ("कः8443.example", nil), ("com一7.example", nil),
      // Right-to-left scripts.
      ("אבג.example", nil), ("مثال.example", nil),
      // Rare letters, digits of other scripts, stacked marks.
      ("ɑpple.com", nil), ("goog\u{1E37}e.com", nil), ("l·l.example", nil), ("ıpple.com", nil),
      ("a\u{0332}b.example", nil),
      ("\u{0967}हि.example", nil), ("ᏸᎤ.example", nil), ("ก\u{E48}\u{E48}.example", nil),
      // One misleading label is enough.
      ("bücher.\u{0435}xample.com", nil),
    ] as [(String, String?)])
  func `an internationalised host is shown decoded only if that cannot mislead`(host: String, expected: String?) throws
  {
    let uri = try URI("https://\(host)/")
    #expect(uri.display() == expected ?? uri.host?.text)
  }

  @Test(arguments: ["xn--ls8h.la", "xn--a.example", "xn--99999.example", "xn--bcher-kva.xo--example.example"])
  func `a label that is not valid IDNA is shown unchanged`(host: String) throws {
    #expect(try URI("https://\(host)/").display() == host)
  }

  @Test func `a label that is only the prefix xn-- is rejected`() {
    #expect(throws: URIError.self) { try URI("https://xn--.example/") }
  }

  @Test func `each letter that is shown belongs to exactly one script`() {
    let names: [(DisplayScript, Regex<Substring>)] = [
      (.latin, /\p{scx=Latin}/), (.greek, /\p{scx=Greek}/), (.cyrillic, /\p{scx=Cyrillic}/),
      (.armenian, /\p{scx=Armenian}/),
      (.georgian, /\p{scx=Georgian}/), (.devanagari, /\p{scx=Devanagari}/), (.bengali, /\p{scx=Bengali}/),
      (.gurmukhi, /\p{scx=Gurmukhi}/), (.gujarati, /\p{scx=Gujarati}/), (.oriya, /\p{scx=Oriya}/),
      (.tamil, /\p{scx=Tamil}/),
      (.telugu, /\p{scx=Telugu}/), (.kannada, /\p{scx=Kannada}/), (.malayalam, /\p{scx=Malayalam}/),
      (.sinhala, /\p{scx=Sinhala}/), (.thai, /\p{scx=Thai}/), (.lao, /\p{scx=Lao}/), (.tibetan, /\p{scx=Tibetan}/),
      (.myanmar, /\p{scx=Myanmar}/), (.khmer, /\p{scx=Khmer}/), (.ethiopic, /\p{scx=Ethiopic}/),
      (.hangul, /\p{scx=Hangul}/),
      (.hiragana, /\p{scx=Hiragana}/), (.katakana, /\p{scx=Katakana}/), (.bopomofo, /\p{scx=Bopomofo}/),
      (.han, /\p{scx=Han}/),
    ]
    #expect(names.count == DisplayScript.allCases.count)
    for (script, name) in names {
      let name = name.matchingSemantics(.unicodeScalar)
      for value in script.ranges.joined() {
        guard let scalar = Unicode.Scalar(value), let found = DisplayScript(scalar) else { continue }
        #expect(found == script, "U+\(String(value, radix: 16))")
        if value > 0x4E20 && value % 97 != 0 { continue }
        #expect(String(scalar).wholeMatch(of: name) != nil, "U+\(String(value, radix: 16)) as \(script)")
      }
    }
  }
}
