import Names
import Testing

/// RFC 8259, by its sections.
@Suite struct JSONReaderTests {
  private func text(_ json: String) throws(JSONError) -> String? {
    guard case .text(let text) = try JSONReader.value(of: Array(json.utf8)).content else { return nil }
    return text
  }

  @Test(arguments: [
    (#""""#, ""), (#""a/b""#, "a/b"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9""#, "Aé"),
    (#""\uD834\uDD1E""#, "𝄞"), (#""日本""#, "日本"), (#""\u0000""#, "\0"), ("\u{FEFF}\"a\"", "a"),
    (" \t\r\n\"a\" \n", "a"),
  ])
  func `section 7: strings and their escapes are read`(json: String, expected: String) throws {
    #expect(try text(json) == expected)
  }

  @Test(arguments: [
    "{}", "[]", "null", "true", "false", "0", "-0", "10", "0.5", "1e5", "1E+5", "-1.25e-10",
    #"{"a": [1, {"b": null}]}"#,
  ])
  func `sections 2 to 6: values are read`(json: String) throws {
    _ = try JSONReader.value(of: Array(json.utf8))
  }

  @Test func `members keep the order of the file`() throws {
    guard case .object(let members) = try JSONReader.value(of: Array(#"{"b": 1, "a": "x"}"#.utf8)).content else {
      Issue.record("not an object")
      return
    }
    #expect(members.map(\.name) == ["b", "a"])
    #expect(members.map(\.value.offset) == [6, 14])
    #expect(members.last?.value.content == .text("x"))
  }

  @Test(arguments: [
    ("", 0), ("{", 1), ("[", 1), ("\"", 1), (#"{"a""#, 4), ("[1,]", 3), (#"{"a": 1,}"#, 8), ("[1 2]", 3),
    (#"{"a" 1}"#, 5),
    ("{a: 1}", 1), ("{'a': 1}", 1), ("nul", 0), ("TRUE", 0), ("01", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1e", 2),
    ("-", 1), ("NaN", 0), ("1 1", 2), ("// x\n1", 0), ("\"a\nb\"", 2), (#""\x""#, 1), (#""\u12g4""#, 5),
    (#""\uD834""#, 1), (#""\uD834\u0041""#, 1), (#""\uDD1E""#, 1), (#""\uD834x""#, 1), ("\"\\", 2), ("\"\\u00", 5),
    (#"{"a": 1, "a": 2}"#, 9), ("\u{A0}1", 0), ("]", 0), ("}", 0), (",", 0), (":", 0),
  ])
  func `a syntax error is reported at its offset`(json: String, offset: Int) {
    let error = #expect(throws: JSONError.self) { try JSONReader.value(of: Array(json.utf8)) }
    #expect(error?.offset == offset, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFF, 0xFE], [0xEF, 0xBB],
  ])
  func `bytes that are not UTF-8 are rejected`(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONReader.value(of: bytes) }
  }

  @Test func `the nesting depth is limited`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONReader.value(of: nested(JSONReader.maximumDepth))
    #expect(throws: JSONError.self) { try JSONReader.value(of: nested(JSONReader.maximumDepth + 1)) }
    #expect(throws: JSONError.self) { try JSONReader.value(of: Array(repeating: UInt8(ascii: "["), count: 1_000_000)) }
  }
}
