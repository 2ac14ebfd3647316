import Rig
import Testing
import UniversalLinks

@Suite struct DomainPatternTests {
  @Test(arguments: [
    ("example.com", "example.com", true),
    ("example.com", "www.example.com", false),
    ("example.com", "example.com.evil.example", false),
    ("example.com", "evilexample.com", false),
    ("*.example.com", "example.com", false),
    ("*.example.com", "www.example.com", true),
    ("*.example.com", "a.b.example.com", true),
    ("*.example.com", "evilexample.com", false),
    ("*.example.com", ".example.com", false),
    ("*.example.com", "www.example.com.evil.example", false),
  ])
  func `a pattern covers one host, and a wildcard only the hosts below it`(
    pattern: String, host: String, expected: Bool
  ) throws {
    #expect(try DomainPattern(pattern).matches(host) == expected)
  }

  @Test(arguments: [
    ("Example.COM.", "example.com"), ("*.Example.com", "*.example.com"),
    ("*.bücher.example", "*.xn--bcher-kva.example"),
  ])
  func `a pattern has one spelling, in ASCII`(text: String, expected: String) throws {
    #expect(try DomainPattern(text).description == expected)
  }

  @Test(arguments: [
    "", "*", "*.", "*.com", "*.*.example.com", "www.*.com", "*example.com", "https://example.com", "example.com/x",
    "example.com:443", "user@example.com", "192.0.2.1", "[::1]", "a b", "i❤.example", "example..com",
    "bücher.example\0.evil.test", "example.com\0",
  ])
  func `text that is not a domain is rejected`(text: String) {
    #expect(throws: URIError.self) { try DomainPattern(text) }
  }
}

@Suite struct DomainTableTests {
  @Test func `matches start with the exact host, then the longest wildcard`() throws {
    var table = DomainTable<Int>()
    for (value, text) in zip(
      0...,
      ["*.example.com", "*.b.example.com", "a.b.example.com", "*.a.b.example.com", "example.com", "*.other.example"])
    {
      table.insert(value, for: try DomainPattern(text))
    }
    #expect(table.count == 6)
    #expect(
      table.matches(for: "a.b.example.com").map(\.pattern) == ["a.b.example.com", "*.b.example.com", "*.example.com"])
    #expect(table.matches(for: "x.a.b.example.com").flatMap(\.values) == [3, 1, 0])
    #expect(table.matches(for: "example.com").map(\.pattern) == ["example.com"])
    #expect(table.matches(for: "com").isEmpty)
    #expect(table.matches(for: "").isEmpty)
  }

  @Test func `a table matches the same hosts as its patterns do one by one`() throws {
    let patterns = try ["a.example", "*.a.example", "b.a.example", "*.b.a.example", "*.c.example"].map {
      try DomainPattern($0)
    }
    var table = DomainTable<DomainPattern>()
    for pattern in patterns { table.insert(pattern, for: pattern) }
    for host in ["a.example", "b.a.example", "c.b.a.example", "x.c.example", "c.example", "xa.example"] {
      #expect(Set(table.matches(for: host).flatMap(\.values)) == Set(patterns.filter { $0.matches(host) }), "\(host)")
    }
  }
}

@Suite struct PublicSuffixListTests {
  /// Some of the test cases of publicsuffix.org ("Test data").
  @Test(arguments: [
    ("com", nil), ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("uk.com", nil),
    ("b.example.uk.com", "example.uk.com"), ("example", nil), ("a.b.example.example", "example.example"),
    ("test.ac", "test.ac"), ("ck", nil), ("test.ck", nil), ("a.b.test.ck", "b.test.ck"), ("www.www.ck", "www.ck"),
    ("kobe.jp", nil), ("c.kobe.jp", nil), ("a.b.c.kobe.jp", "b.c.kobe.jp"), ("city.kobe.jp", "city.kobe.jp"),
    ("co.uk", nil), ("www.example.co.uk", "example.co.uk"), ("xn--55qx5d.cn", nil),
    ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"), ("xn--fiqs8s", nil),
    ("menu.github.io", "menu.github.io"),
  ])
  func `publicsuffix.org: registrable domains are found`(domain: String, expected: String?) {
    #expect(PublicSuffixList.system.registrableDomain(of: domain) == expected)
    #expect(PublicSuffixList.system.isPublicSuffix(domain) == (expected == nil))
  }

  @Test func `a list is read from a given file, and a missing file gives none`() throws {
    #expect(PublicSuffixList(path: "/nonexistent/list") == nil)
    let folder = try TemporaryDirectory()
    let path = try folder.write(
      """
      // ===BEGIN ICANN DOMAINS===
      com
      *.city.example
      !town.city.example
      // ===END ICANN DOMAINS===
      """, to: "list")
    let list = try #require(PublicSuffixList(path: path))
    #expect(list.isPublicSuffix("com"))
    #expect(list.isPublicSuffix("any.city.example"))
    #expect(!list.isPublicSuffix("town.city.example"))
    #expect(!list.isPublicSuffix("co.uk"))
    #expect(throws: URIError.self) { try DomainPattern("*.any.city.example", suffixes: list) }
    #expect(try DomainPattern("*.town.city.example", suffixes: list).matches("a.town.city.example"))
    #expect(try DomainPattern("*.co.uk", suffixes: list).matches("example.co.uk"))
  }

  @Test func `a name is not truncated at U+0000`() {
    let list = PublicSuffixList.system
    #expect(list.isPublicSuffix("example.com\0.evil.test"))
    #expect(list.registrableDomain(of: "example.com\0.evil.test") == nil)
  }

  @Test(arguments: [
    "*.com", "*.co.uk", "*.github.io", "*.kobe.jp", "*.c.kobe.jp", "*.xn--55qx5d.cn", "*.公司.cn", "*.unlisted",
    "*.local",
  ])
  func `a wildcard over a public suffix is refused`(text: String) {
    let error = #expect(throws: URIError.self) { try DomainPattern(text) }
    #expect(error?.code == .badHost)
  }

  @Test(arguments: ["github.io", "*.menu.github.io", "*.example.co.uk", "*.city.kobe.jp"])
  func `an exact claim on a public suffix and a wildcard below one are allowed`(text: String) throws {
    #expect(try DomainPattern(text).description == text)
  }
}
