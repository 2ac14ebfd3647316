import Testing

@testable import Bus

@Suite struct SignatureTests {
  @Test(arguments: [
    "", "y", "ai", "a{sv}", "(ii)", "a(sa{sv})", "aa{sv}", "a{oa{sa{sv}}}", "(y(n(q)))", "vvv", "susso",
    "a{s(iia{yv})}",
    String(repeating: "a", count: 32) + "y",
    String(repeating: "(", count: 32) + "y" + String(repeating: ")", count: 32),
    String(repeating: "y", count: 255),
  ])
  func `a valid signature is accepted unchanged`(_ text: String) throws {
    let signature = try Signature(text)
    #expect(signature.string == text)
    #expect(signature.types.map(\.code).joined() == text)
  }

  @Test(arguments: [
    "a", "(", ")", "()", "(i", "i)", "{sv}", "a{", "a{s", "a{sv", "a{}", "a{s}", "a{vs}", "a{(i)s}", "a{asv}", "a{svv}",
    "z", "r", "e", "m", " ", "s\u{0}", "\u{0}", "ä", "aa", "a)",
    String(repeating: "a", count: 33) + "y",
    String(repeating: "(", count: 33) + "y" + String(repeating: ")", count: 33),
    String(repeating: "y", count: 256),
  ])
  func `an invalid signature is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try Signature(text) }
  }

  @Test func `arrays and structures each have their own depth limit`() throws {
    let both = String(repeating: "a", count: 31) + "a{s" + String(repeating: "(", count: 31) + "y"
    #expect(try Signature(both + String(repeating: ")", count: 31) + "}").isSingleType)
  }

  @Test(arguments: ["a{sv}": true, "y": true, "ss": false, "": false])
  func `a signature with one complete type is recognised`(_ text: String, _ isSingle: Bool) throws {
    #expect(try Signature(text).isSingleType == isSingle)
  }
}
