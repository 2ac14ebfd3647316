import Testing

@testable import UniversalLinks

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
      ("https://xn--bcher-kva.example/", "bücher.example"),
      ("https://example.com.evil.example/", "example.com.evil.example"),
      ("https://[::1]/x", "[::1]/x"),
      ("tel:+49301234", "tel:+49301234"),
      ("mailto:somebody@example.com", "mailto:somebody@example.com"),
      ("sms:evil.example", "sms:evil.example"),
      ("geo:52.5,13.4", "geo:52.5,13.4"),
      ("app://Host/path", "app://Host/path"),
      ("https://example.com/日本", "example.com/日本"),
      ("https://example.com/caf%C3%A9", "example.com/café"),
      ("https://example.com/メニュー", "example.com/メニュー"),
      ("https://example.com/हिन्दी", "example.com/हिन्दी"),
      ("https://example.com/ที่", "example.com/ที่"),
      ("https://example.com/a\u{0E35}", "example.com/a%E0%B8%B5"),
      ("https://example.com/ท\u{E35}\u{E48}\u{E48}\u{E48}", "example.com/ท\u{E35}\u{E48}\u{E48}%E0%B9%88"),
      ("mailto:b%C3%A4r@example.com", "mailto:b%C3%A4r@example.com"),
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
      "%D7%90", "%D8%A7", "%DB%B1",
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

  @Test(
    "a host and a claim are cut in front, and never in the part that has an owner",
    arguments: [
      ("menu.example.com", 40, "menu.example.com"), ("*.menu.example.com", 40, "*.menu.example.com"),
      ("accounts.bank.example.aaaaaaaaaaaaaaaaaaaaaaaaaa.evil.example", 20, "…aaaaaa.evil.example"),
      ("*.bank.example.aaaaaaaaaaaaaaaaaaaaaaaaaa.evil.example", 20, "*.…aaaa.evil.example"),
      ("www.quite-a-long-name-of-one-owner.co.uk", 16, "…quite-a-long-name-of-one-owner.co.uk"),
      ("*.www.quite-a-long-name-of-one-owner.co.uk", 16, "*.…quite-a-long-name-of-one-owner.co.uk"),
      // Nothing is left out.
      ("a-very-long-company-name-that-is-registered.co.uk", 40, "a-very-long-company-name-that-is-registered.co.uk"),
      ("*.a-very-long-company-name-that-is-mine.co.uk", 40, "*.a-very-long-company-name-that-is-mine.co.uk"),
      ("*.xn--bcher-kva.example", 40, "*.bücher.example"),
    ])
  func claims(claim: String, limit: Int, expected: String) throws {
    let pattern = try DomainPattern(claim)
    #expect(pattern.display(limit: limit) == expected)
    if !pattern.isWildcard { #expect(try URI("https://\(claim)/").host?.display(limit: limit) == expected) }
  }

  @Test("a host that is all its owner's stays as it is", arguments: [16, 39])
  func owned(limit: Int) throws {
    let host = "a-very-long-name-of-one-owner-only.co.uk"
    #expect(try URI("https://\(host)/").display(limit: limit) == host)
    #expect(try URI("https://www.\(host)/").display(limit: limit) == "…" + host)
  }

  /// For Swift each of these is one character, however long.
  @Test("a path or a host that is one character is cut all the same", arguments: ["%E1%84%80", "%E0%A4%95%E0%A5%8D"])
  func oneCharacter(piece: String) throws {
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

  @Test("is never longer than asked for, or than the part of the host that has an owner", arguments: 16...60)
  func bounded(limit: Int) throws {
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
    "internationalised hosts are shown as they are written where that cannot mislead",
    arguments: [
      ("bücher.example", "bücher.example"), ("straße.example", "straße.example"), ("пример.example", "пример.example"),
      ("παράδειγμα.example", "παράδειγμα.example"), ("日本語.jp", "日本語.jp"), ("スーパーabc.jp", nil), ("スーパー.jp", "スーパー.jp"),
      ("東京tower.jp", "東京tower.jp"), ("ひらがなカタカナ漢字.jp", "ひらがなカタカナ漢字.jp"), ("한국어.kr", "한국어.kr"),
      ("例え7-1.jp", "例え7-1.jp"), ("हिन्दी.example", "हिन्दी.example"), ("ไทย.example", "ไทย.example"),
      ("məktəb.example", "məktəb.example"), ("việtnam.example", "việtnam.example"),
      ("łódź.example", "łódź.example"), ("façade.example", "façade.example"), ("smörgås.example", "smörgås.example"),
      // Marks that nobody sees.
      ("exạmple.com", nil), ("pạypạl.com", nil), ("googłe.com", nil), ("ąpple.com", nil), ("đropbox.com", nil),
      ("twițțer.com", nil), ("gơơgle.com", nil), ("ọ.example", nil), ("bücher.exạmple.com", nil),
      // Mixed scripts.
      ("\u{0435}xample.com", nil), ("p\u{0430}ypal.com", nil), ("πaypal.com", nil), ("日ひ한.jp", nil),
      ("ไทยa.example", nil),
      // One script that looks like another.
      ("аррӏе.com", nil), ("сосо.com", nil), ("ορο.example", nil), ("օո.example", nil), ("ഠഠ.example", nil),
      ("ббо.example", nil), ("хорсе-1.com", nil),
      // Letters that look like punctuation.
      ("comノlogin.example", nil), ("ノノ.example", nil), ("丶丶.example", nil), ("दुःख.example", "दुःख.example"),
      ("कः8443.example", nil), ("com一7.example", nil),
      // From right to left.
      ("אבג.example", nil), ("مثال.example", nil),
      // Letters that are not in everyday use, digits of other scripts, marks on marks.
      ("ɑpple.com", nil), ("goog\u{1E37}e.com", nil), ("l·l.example", nil), ("ıpple.com", nil),
      ("a\u{0332}b.example", nil),
      ("\u{0967}हि.example", nil), ("ᏸᎤ.example", nil), ("ก\u{E48}\u{E48}.example", nil),
      // One label that misleads is enough.
      ("bücher.\u{0435}xample.com", nil),
    ] as [(String, String?)])
  func internationalised(host: String, expected: String?) throws {
    let uri = try URI("https://\(host)/")
    #expect(uri.display() == expected ?? uri.host?.text)
  }

  @Test(
    "what is no label of IDNA stays as it is",
    arguments: ["xn--ls8h.la", "xn--a.example", "xn--99999.example", "xn--bcher-kva.xo--example.example"])
  func notInternationalised(host: String) throws {
    #expect(try URI("https://\(host)/").display() == host)
  }

  @Test("a label with nothing behind its prefix is refused")
  func emptyLabel() {
    #expect(throws: URIError.self) { try URI("https://xn--.example/") }
  }

  @Test("every letter that is shown is of the script that it is taken for, and of one only")
  func scripts() {
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
