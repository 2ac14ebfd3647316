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
