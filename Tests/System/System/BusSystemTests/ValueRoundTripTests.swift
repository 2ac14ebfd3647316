import EventLoop
import TestKit
import Testing

@testable import Bus

/// Sends values of any type through libdbus and a real dbus-daemon, and back.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ValueRoundTripTests {
  private static let echo = ExportedMethod("Echo", in: [Argument("value", "v")], out: [Argument("value", "v")]) {
    $1.arguments
  }

  @Test func `values of every type come back unchanged`() async throws {
    let fixture = try await BusFixture.start(Self.echo)
    let values: [Value] = [
      .byte(.max), .boolean(true), .boolean(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
      .int64(.min), .uint64(.max), .double(-0.0), .double(.infinity), .double(.leastNonzeroMagnitude), .string(""),
      .string("naïve 🏳️‍🌈 \u{FEFF}\u{FFFF}\u{10FFFF}\u{1}"), .objectPath("/"), .objectPath("/a/b"), .signature(""),
      .signature("a{sv}(ii)"), .bytes([]), .bytes(Array(0...255)), .strings([]), .strings(["", "a"]),
      .array(element: "ay", [.bytes([]), .bytes([1])]), .array(element: "a{sv}", []), .dictionary([:]),
      .dictionary(key: "y", value: "(iv)", [DictionaryEntry(.byte(1), .structure([.int32(1), .variant(.byte(2))]))]),
      .array(element: "(yx)", [.structure([.byte(1), .int64(2)]), .structure([.byte(3), .int64(4)])]),
      .structure([.structure([.structure([.byte(1)])])]), .array(element: "v", [.variant(.variant(.byte(1)))]),
      .dictionary(key: "d", value: "aas", [DictionaryEntry(.double(1.5), .array(element: "as", [.strings(["a"])]))]),
    ]
    for value in values { #expect(try await fixture.call("Echo", [.variant(value)]) == [.variant(value)]) }
  }

  @Test func `five hundred random values come back unchanged`() async throws {
    let fixture = try await BusFixture.start(Self.echo)
    var generator = ValueGenerator(seed: 0x7A67)
    for _ in 0..<500 {
      let value = Value.variant(generator.value(depth: 5))
      #expect(try await fixture.call("Echo", [value]) == [value])
    }
  }

  @Test func `the deepest allowed nesting comes back unchanged`() async throws {
    let fixture = try await BusFixture.start(Self.echo)
    let deepest = (0..<WireCheck.maximumDepth).reduce(Value.byte(1)) { value, _ in .variant(value) }
    #expect(try await fixture.call("Echo", [deepest]) == [deepest])
    let structures = (0..<32).reduce(Value.byte(1)) { value, _ in .structure([value]) }
    let arrays = try (0..<31).reduce(Value.strings(["x"])) { value, _ in
      .array(element: try WireCheck.signature(of: [value]), [value])
    }
    for value in [structures, arrays] {
      #expect(try await fixture.call("Echo", [.variant(value)]) == [.variant(value)])
    }
  }

  @Test func `a value of four mebibytes comes back unchanged`() async throws {
    let fixture = try await BusFixture.start(Self.echo)
    let value = Value.variant(.bytes((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
    #expect(try await fixture.call("Echo", [value]) == [value])
  }

  @Test func `a call above the limits fails, and the next call succeeds`() async throws {
    let fixture = try await BusFixture.start(Self.echo)
    let large = Value.variant(.bytes(Array(repeating: 0, count: DecodingLimits.reply.bytes + 1)))
    let many = Value.variant(.array(element: "b", Array(repeating: .boolean(true), count: DecodingLimits.reply.values)))
    for value in [large, many] {
      let error = await busError { () async throws(BusError) in try await fixture.call("Echo", [value]) }
      #expect(error?.name == BusError.Name.limitsExceeded)
    }
    #expect(try await fixture.call("Echo", [.variant(.byte(1))]) == [.variant(.byte(1))])
  }
}

/// Random types and values. The same seed gives the same values.
private struct ValueGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  mutating func value(depth: Int) -> Value { value(of: type(depth: depth), depth: depth) }

  private mutating func type(depth: Int) -> SignatureType {
    let basics = Array("ybnqiuxtdsog".utf8)
    switch depth > 0 ? below(8) : 7 {
    case 0: return .variant
    case 1, 2: return .array(Signature(type(depth: depth - 1)))
    case 3:
      return .dictionary(key: Signature(.basic(basics[below(basics.count)])), value: Signature(type(depth: depth - 1)))
    case 4: return .structure((0...below(3)).map { _ in type(depth: depth - 1) })
    default: return .basic(basics[below(basics.count)])
    }
  }

  private mutating func value(of type: SignatureType, depth: Int) -> Value {
    switch type {
    case .basic(let code): return basic(code)
    case .variant: return .variant(value(depth: depth - 1))
    case .array(let element) where element.string == "y": return .bytes((0..<below(9)).map { _ in UInt8(below(256)) })
    case .array(let element):
      return .array(element: element, (0..<below(4)).map { _ in value(of: element.types[0], depth: depth - 1) })
    case .dictionary(let key, let content):
      let entries = (0..<below(4)).map { _ in
        DictionaryEntry(value(of: key.types[0], depth: 0), value(of: content.types[0], depth: depth - 1))
      }
      return .dictionary(key: key, value: content, entries)
    case .structure(let members): return .structure(members.map { value(of: $0, depth: depth - 1) })
    }
  }

  private mutating func basic(_ code: UInt8) -> Value {
    let bits = random.next()
    switch code {
    case TypeCode.byte: return .byte(UInt8(truncatingIfNeeded: bits))
    case TypeCode.boolean: return .boolean(bits & 1 == 1)
    case TypeCode.int16: return .int16(Int16(truncatingIfNeeded: bits))
    case TypeCode.uint16: return .uint16(UInt16(truncatingIfNeeded: bits))
    case TypeCode.int32: return .int32(Int32(truncatingIfNeeded: bits))
    case TypeCode.uint32: return .uint32(UInt32(truncatingIfNeeded: bits))
    case TypeCode.int64: return .int64(Int64(bitPattern: bits))
    case TypeCode.uint64: return .uint64(bits)
    case TypeCode.double: return .double(Double(Int64(bitPattern: bits)) / 3)
    case TypeCode.objectPath: return .objectPath(["/", "/a", "/a/b1"][below(3)])
    case TypeCode.signature: return .signature(["", "a{sv}", "(ib)as"][below(3)])
    default:
      let scalars = (0..<below(6)).map { _ in Unicode.Scalar(UInt32(1 + below(0xD7FE))) ?? "x" }
      return .string(String(String.UnicodeScalarView(scalars)))
    }
  }
}

/// Compares arguments and replies of each type with busctl, which is another implementation.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RefereeTests {
  @Test(arguments: [
    ["y", "7"], ["b", "true"], ["n", "-3"], ["q", "3"], ["i", "-70000"], ["u", "70000"], ["x", "-5000000000"],
    ["t", "5000000000"], ["d", "1.5"], ["s", "\"text\""], ["o", "\"/a/b\""], ["g", "\"a{sv}\""], ["ay", "3 1 2 3"],
    ["as", "2 \"a\" \"b\""], ["a{sv}", "1 \"k\" u 1"], ["(si)", "\"a\" 1"], ["v", "s \"in\""], ["aay", "2 1 7 0"],
    ["a{s(ib)}", "1 \"k\" -1 false"], ["a(yy)", "2 1 2 3 4"],
  ])
  func `busctl reads back the value that it wrote`(_ test: [String]) async throws {
    let signature = try Signature(test[0])
    let fixture = try await BusFixture.start(
      ExportedMethod("Echo", in: [Argument("value", signature)], out: [Argument("value", signature)]) { $1.arguments })
    let words = test[1].split(separator: " ").map { $0.filter { $0 != "\"" } }
    let program = try BuiltProducts.systemProgram("busctl", package: "systemd")
    let result = try await ChildProcess.run(
      program,
      [
        "--address=\(fixture.bus.address)", "call", "--", BusFixture.name, BusFixture.path.string,
        BusFixture.interface, "Echo", test[0],
      ] + words)
    #expect(result.output == "\(test[0]) \(test[1])\n", "\(result.log)")
  }
}
