import EventLoop
import Glibc
import Testing

@testable import Bus

@Suite struct ValueTests {
  @Test func `an accessor returns a value only for its own type`() {
    #expect(Value.string("a").asString == "a")
    #expect(Value.objectPath("/a").asString == nil)
    #expect(Value.objectPath("/a").asObjectPath == "/a")
    #expect(Value.uint32(1).asUInt32 == 1)
    #expect(Value.int32(1).asUInt32 == nil)
    #expect(Value.boolean(true).asBool == true)
    #expect(Value.bytes([1]).asBytes == [1])
    #expect(Value.strings(["a"]).asStrings == ["a"])
    #expect(Value.strings([]).asObjectPaths == nil)
    #expect(Value.variant(.byte(1)).asByte == nil)
    #expect(Value.variant(.byte(1)).unwrapped.asByte == 1)
  }

  @Test func `the values of a dictionary are wrapped in variants and unwrapped`() {
    let value = Value.dictionary(["b": .uint32(1), "a": .variant(.string("x"))])
    #expect(
      value
        == .dictionary(
          key: "s", value: "v",
          [
            DictionaryEntry(.string("a"), .variant(.string("x"))),
            DictionaryEntry(.string("b"), .variant(.uint32(1))),
          ]))
    #expect(value.asDictionary == ["a": .string("x"), "b": .uint32(1)])
    #expect(Value.dictionary(key: "u", value: "v", []).asDictionary == nil)
  }
}

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

@Suite struct NameRulesTests {
  @Test(arguments: ["/", "/a", "/a/b_1", "/0"]) func `a valid path is accepted`(_ text: String) throws {
    #expect(try ObjectPath(text).string == text)
  }

  @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/ä", "/a\u{0}", "/\u{0}", "/a b", "/a.b"])
  func `an invalid path is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try ObjectPath(text) }
  }

  @Test func `a path finds its children and descendants`() throws {
    let parent: ObjectPath = "/a/b"
    #expect(try parent.appending("c") == "/a/b/c")
    #expect(try ObjectPath.root.appending("c") == "/c")
    #expect(throws: BusError.self) { try parent.appending("") }
    #expect(throws: BusError.self) { try parent.appending("c/") }
    #expect(ObjectPath("/a/b/c").isBelow(parent))
    #expect(!ObjectPath("/a/bc").isBelow(parent))
    #expect(!parent.isBelow(parent))
    #expect(parent.isBelow(.root))
    #expect(ObjectPath("/a/b/c/d").child(of: parent) == "c")
    #expect(ObjectPath("/a").child(of: .root) == "a")
  }

  @Test(arguments: [
    "", "a", "a..b", ".a", "a.b.", "1.2", "a.b\u{0}", "a b.c", ":1.2", String(repeating: "a.b", count: 99),
  ])
  func `an invalid interface name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireInterface(text) }
  }

  @Test(arguments: ["", "a", "a.b\u{0}", "a..b", ":1..2", "a b.c", String(repeating: "a.b", count: 99)])
  func `an invalid bus name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireBusName(text) }
  }

  @Test(arguments: ["", "a.b", "1a", "a-b", "a\u{0}", String(repeating: "a", count: 256)])
  func `an invalid member name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireMember(text) }
  }

  @Test func `valid names are accepted`() throws {
    try NameRules.requireInterface("org.example.A1")
    try NameRules.requireBusName(":1.42")
    try NameRules.requireBusName("org.example-x.A1")
    try NameRules.requireMember("Get_1")
  }
}

@Suite struct WireCheckTests {
  private static func nested(_ depth: Int) -> Value { (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) } }

  private static func structures(_ depth: Int) -> Value {
    (0..<depth).reduce(.byte(1)) { value, _ in .structure([value]) }
  }

  static let hostile: [Value] = [
    .string("a\u{0}b"), .variant(.string("\u{0}")), .array(element: "s", [.string("\u{0}")]),
    .dictionary(key: "s", value: "v", [DictionaryEntry(.string("\u{0}"), .variant(.byte(1)))]),
    .structure([]), .variant(.structure([])),
    .array(element: "s", [.int32(1)]), .array(element: "s", [.string("a"), .byte(1)]),
    .array(element: "", []), .array(element: "ss", []), .array(element: "y", []), .array(element: "y", [.byte(1)]),
    .variant(.array(element: "ss", [])), .array(element: "ay", [.array(element: "y", [])]),
    .array(element: "v", [.string("not in a variant")]), .array(element: "(ss)", [.structure([.string("a")])]),
    .dictionary(key: "v", value: "s", []), .dictionary(key: "as", value: "s", []),
    .dictionary(key: "ss", value: "s", []), .dictionary(key: "s", value: "", []),
    .dictionary(key: "", value: "s", []), .dictionary(key: "s", value: "ss", []),
    .dictionary(key: "s", value: "v", [DictionaryEntry(.byte(1), .variant(.byte(1)))]),
    .dictionary(key: "s", value: "v", [DictionaryEntry(.string("a"), .byte(1))]),
    .dictionary(key: "s", value: "y", [DictionaryEntry(.string("a"), .variant(.byte(1)))]),
    .unixFD(FileDescriptor(owning: -1)), nested(65), nested(10_000), structures(33), structures(5_000),
    .structure(Array(repeating: .byte(1), count: 254)),
  ]

  @Test(arguments: hostile.indices) func `a value that cannot be sent is an error`(_ index: Int) {
    #expect(throws: BusError.self) { try WireCheck.signature(of: [Self.hostile[index]]) }
  }

  @Test func `the signature describes the values`() throws {
    let body: [Value] = [
      .strings(["a"]), .bytes([1]), .dictionary(["k": .int32(1)]), .structure([.byte(1), .variant(.byte(2))]),
    ]
    #expect(try WireCheck.signature(of: body) == "asaya{sv}(yv)")
    #expect(try WireCheck.signature(of: []) == "")
    #expect(try WireCheck.signature(of: [Self.nested(64)]) == "v")
  }

  @Test func `an array and a body have at most 64 MiB, with 16 bytes more for each value`() throws {
    func bytes(_ count: Int) -> Value { .bytes(Array(repeating: 0, count: count)) }
    #expect(try WireCheck.signature(of: [bytes((1 << 26) - 16)]) == "ay")
    #expect(throws: BusError.self) { try WireCheck.signature(of: [bytes((1 << 26) - 15)]) }
    #expect(try WireCheck.signature(of: [bytes((1 << 25) - 16), bytes((1 << 25) - 16)]) == "ayay")
    #expect(throws: BusError.self) { try WireCheck.signature(of: [bytes((1 << 25) - 16), bytes((1 << 25) - 15)]) }
    // The array takes another 16 bytes.
    let most = String(repeating: "a", count: (1 << 20) - 17)
    #expect(try WireCheck.signature(of: [.strings(Array(repeating: most, count: 64))]) == "as")
    #expect(throws: BusError.self) {
      try WireCheck.signature(of: [.strings(Array(repeating: most + "a", count: 64))])
    }
  }

  @Test func `a message has at most sixteen file descriptors`() throws {
    let descriptor = Value.unixFD(FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC)))
    #expect(try WireCheck.signature(of: [.array(element: "h", Array(repeating: descriptor, count: 16))]) == "ah")
    #expect(throws: BusError.self) {
      try WireCheck.signature(of: [.array(element: "h", Array(repeating: descriptor, count: 17))])
    }
  }

  @Test func `the error names the invalid argument`() throws {
    let error = #expect(throws: BusError.self) { try WireCheck.signature(of: [.byte(1), .string("\u{0}")]) }
    #expect(error?.message.contains("argument 2") == true)
  }
}
