import EventLoop
import Glibc
import Testing

@testable import Bus

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
