import Foundation
import NDEF
import Names
import Records
import Testing

@testable import CommandLineTool

/// `--json` prints what Foundation would print.
struct JSONEncodingTests {
  private struct Report: Encodable {
    enum State: String, Encodable { case open }

    var text = "a \"quoted\" / \\ line\n\u{8}\u{1B} é 🍽"
    var none: String?
    @OrNull var null: Int?
    var flag = true
    var numbers: [Int] = [.min, 0, .max]
    var bytes: [UInt8] = [0, 255]
    var large = UInt64.max
    var decimals = [48.201, -16, 0, 1e-7, 5e300]
    var state = State.open
    var optional: Bool? = false
    var nested = [["b": [1, nil], "a": []], [:]]
  }

  /// Has a member of its own beside those of another value.
  private struct Extended: Encodable {
    enum Key: String, CodingKey { case extra, list, object }

    func encode(to encoder: any Encoder) throws {
      try Report().encode(to: encoder)
      var container = encoder.container(keyedBy: Key.self)
      try container.encodeNil(forKey: .extra)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      try list.encode("text")
      var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
      try object.encode(1 as Int8, forKey: .list)
    }
  }

  private func expectFoundation(toAgreeOn value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let expected =
      try JSONSerialization.jsonObject(with: encoder.encode(value), options: .fragmentsAllowed) as? NSObject
    for indented in [false, true] {
      let bytes = try JSONTree(encoding: value).bytes(indented: indented)
      let actual = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? NSObject
      #expect(actual != nil && actual == expected)
    }
  }

  @Test func `every kind of value is encoded as Foundation encodes it`() throws {
    try expectFoundation(toAgreeOn: Report())
    try expectFoundation(toAgreeOn: Extended())
    try expectFoundation(toAgreeOn: [Report(), Report()])
    try expectFoundation(toAgreeOn: "text")
    try expectFoundation(toAgreeOn: Int?.none)
    try expectFoundation(toAgreeOn: ["b": 1, "a": Int?.none] as JSON)
  }

  @Test func `members are sorted, and an indented value has a line for each`() throws {
    let value: JSON = ["b": [1, 2], "a": [] as [Int], "c": ["d": true]]
    let tree = try JSONTree(encoding: value)
    #expect(String(decoding: tree.bytes, as: UTF8.self) == #"{"a":[],"b":[1,2],"c":{"d":true}}"#)
    #expect(
      String(decoding: tree.bytes(indented: true), as: UTF8.self) == """
        {
          "a" : [],
          "b" : [
            1,
            2
          ],
          "c" : {
            "d" : true
          }
        }
        """)
  }

  @Test(arguments: [Double.infinity, .nan])
  func `a number that JSON does not have is an error`(number: Double) {
    #expect(throws: EncodingError.self) { try JSONTree(encoding: [number]) }
  }

  @Test func `a record with a place is encoded`() throws {
    let tree = try JSONTree(encoding: RecordReport(URIRecord("geo:48.2010,-16.5?q=Café").record()))
    #expect(
      String(decoding: tree.bytes, as: UTF8.self).contains(
        #""place":{"label":"Café","latitude":48.201,"longitude":-16.5}"#))
  }
}
