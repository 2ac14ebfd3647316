import Names
import Testing

@testable import ReaderProtocol

/// What the daemon takes from a process that lists readers.
@Suite struct ReaderListTests {
  private static let omnikey = PCSCReader(
    name: "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader] 01 00",
    identity: .init(vendor: 0x076B, product: 0x5422), place: .init(bus: 1, number: 17))

  static let lists: [ReaderList] = [
    .devices([]), .devices(["pn53x_usb:001:002", "pn532_uart:/dev/ttyUSB0"]), .readers([]),
    .readers([
      omnikey, PCSCReader(name: "  Lesegerät  (1) [CL]: "), PCSCReader(name: "A", place: .init(bus: 2, number: 3)),
    ]),
    .readers((1...ReaderList.most).map { PCSCReader(name: "\($0)") }),
    .problem(PCSCProblem(.noService, "pcscd does not run")), .problem(PCSCProblem(.otherVersion)),
  ]

  private static func decoded(_ frame: [UInt8]) throws -> ReaderList {
    try ReaderList(payload: ReaderMessageTests.payload(frame))
  }

  @Test(arguments: lists) func `a list is decoded as it was encoded`(_ list: ReaderList) throws {
    #expect(try Self.decoded(list.frame) == list)
  }

  @Test(arguments: lists) func `a list that is cut off or too long is an error`(_ list: ReaderList) throws {
    let payload = try ReaderMessageTests.payload(list.frame)
    for count in 0..<payload.count {
      #expect(throws: ReaderLinkError.self) { try ReaderList(payload: payload.prefix(count)) }
    }
    #expect(throws: ReaderLinkError.self) { try ReaderList(payload: payload + [0]) }
  }

  @Test func `a list has a bound`() throws {
    let names = (0...ReaderList.most).map { "pn53x_usb:001:\($0)" }
    #expect(try Self.decoded(ReaderList.devices(names).frame) == .devices(Array(names.dropLast())))
    for kind: UInt8 in [1, 2] {
      var writer = FrameWriter(kind: kind)
      writer.write(UInt16(ReaderList.most + 1))
      #expect(throws: ReaderLinkError.self) { try Self.decoded(writer.frame) }
    }
  }

  @Test(arguments: [0, 4] as [UInt8]) func `a list of an unknown kind is an error`(kind: UInt8) {
    #expect(throws: ReaderLinkError("a list of the unknown kind \(kind)")) {
      try Self.decoded(FrameWriter(kind: kind).frame)
    }
  }

  @Test func `a problem of an unknown kind is an error`() {
    var writer = FrameWriter(kind: 3)
    for text in ["eaten", ""] { writer.write(text: text, ReaderLimits.text) }
    #expect(throws: ReaderLinkError.self) { try Self.decoded(writer.frame) }
  }

  @Test func `a text that cannot be printed is left out of a problem`() throws {
    #expect(
      try Self.decoded(ReaderList.problem(PCSCProblem(.other, "a\u{1B}[2J")).frame) == .problem(PCSCProblem(.other)))
  }

  @Test(arguments: ["", "a\tb", "a\u{7F}", "a\u{202E}b", "a\u{2028}b", String(repeating: "n", count: 129)])
  func `a reader with an unusable name is left out`(name: String) throws {
    let list = ReaderList.readers([PCSCReader(name: name), PCSCReader(name: "B")])
    #expect(try Self.decoded(list.frame) == .readers([PCSCReader(name: "B")]))
  }

  @Test func `a name that comes twice is taken once`() throws {
    let list = ReaderList.readers([Self.omnikey, PCSCReader(name: Self.omnikey.name)])
    #expect(try Self.decoded(list.frame) == .readers([Self.omnikey]))
  }
}
