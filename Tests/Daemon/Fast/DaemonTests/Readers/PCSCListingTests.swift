import Names
import Testing

import ReaderProtocol

@testable import Daemon

/// What the daemon takes from the output of `tagroute-reader-pcsc --watch`.
@Suite struct PCSCListingTests {
  private static func events(_ lines: String...) throws -> [PCSCWatch.Event] {
    var listing = PCSCListing()
    return try lines.compactMap { try listing.take(Array($0.utf8)) }
  }

  private static let omnikey = "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader] 01 00"

  @Test func `each block is one list`() throws {
    let events = try Self.events(
      "readers 0", "readers 2", "076b:5422 001:017 \(Self.omnikey)", "- - Virtual PCD 00 00", "readers 0")
    let omnikey = PCSCReader(
      name: Self.omnikey, identity: .init(vendor: 0x076B, product: 0x5422), place: .init(bus: 1, number: 17))
    #expect(events == [.readers([]), .readers([omnikey, PCSCReader(name: "Virtual PCD 00 00")]), .readers([])])
  }

  @Test(arguments: ["-", "-:-"]) func `each pair of numbers may be unknown`(none: String) throws {
    #expect(
      try Self.events("readers 2", "\(none) 2:3 A", "72F:B \(none) B") == [
        .readers([
          PCSCReader(name: "A", place: .init(bus: 2, number: 3)),
          PCSCReader(name: "B", identity: .init(vendor: 0x72F, product: 0xB)),
        ])
      ])
  }

  @Test(arguments: [
    ("problem no-service pcscd does not run", PCSCProblem(.noService, "pcscd does not run")),
    ("problem refused", PCSCProblem(.refused)), ("problem closed x", PCSCProblem(.closed, "x")),
    ("problem version ", PCSCProblem(.otherVersion)),
    ("problem other 0x80100001", PCSCProblem(.other, "0x80100001")), ("problem eaten x", PCSCProblem(.other, "x")),
    ("problem other a\u{1B}[2J", PCSCProblem(.other)),
  ])
  func `a problem has a kind and a text that can be printed`(line: String, problem: PCSCProblem) throws {
    #expect(try Self.events(line) == [.problem(problem)])
  }

  @Test func `a name is taken as it is`() throws {
    let name = "  Lesegerät  (1) [CL]: "
    #expect(try Self.events("readers 1", "- - \(name)") == [.readers([PCSCReader(name: name)])])
  }

  @Test(arguments: ["", "a\tb", "a\u{7F}", "a\u{202E}b", "a\u{2028}b", String(repeating: "n", count: 129)])
  func `a reader with an unusable name is left out`(name: String) throws {
    #expect(try Self.events("readers 2", "- - \(name)", "- - B") == [.readers([PCSCReader(name: "B")])])
  }

  @Test func `a name that is not UTF-8 is left out, and one that comes twice is taken once`() throws {
    var listing = PCSCListing()
    #expect(try listing.take(Array("readers 3".utf8)) == nil)
    #expect(try listing.take(Array("- - ".utf8) + [0xFF, 0x41]) == nil)
    #expect(try listing.take(Array("- 001:002 A".utf8)) == nil)
    let reader = PCSCReader(name: "A", place: .init(bus: 1, number: 2))
    #expect(try listing.take(Array("- - A".utf8)) == .readers([reader]))
  }

  @Test(arguments: [
    "", " ", "reader 1", "readers", "readers x", "readers -1", "readers +1", "readers 17", "readers 001", "readers 1 1",
    "readers  1", "problem", "problem a\tb", "Readers 1", "072f:2200 001:002 A",
  ])
  func `a line that begins neither a list nor a problem is an error`(line: String) {
    #expect(throws: ReaderLinkError.self) { try Self.events(line) }
  }

  @Test(arguments: [
    "", "A", "- -", "072f 001:002 A", "072f:2200:1 001:002 A", "-:2200 - A", "072f:- - A", "+72f:2200 - A",
    "072f:12200 - A", "- 1000:1 A", "- 1:-1 A", "- a:b A", "- 1: A", "-:-:- - A", "readers 1", "problem other x",
  ])
  func `a line that is no reader is an error`(line: String) {
    #expect(throws: ReaderLinkError.self) { try Self.events("readers 1", line) }
  }
}

@Suite struct PCSCNameTests {
  @Test(arguments: [
    ("ACS ACR122U PICC Interface 00 00", "ACS ACR122U PICC Interface"), ("X 0A 1F", "X"), ("X 00", "X 00"),
    (" 00 00", " 00 00"), ("X 0G 00", "X 0G 00"), ("X  00 00", "X "), ("X 000 00", "X 000 00"), ("", ""),
    ("é 00 00", "é"),
  ])
  func `the numbers at the end depend on the order of plugging`(name: String, rest: String) {
    #expect(Names.PCSC.withoutNumbers(name) == rest)
  }

  @Test func `a name without numbers means each reader of the model`() {
    #expect(Names.PCSC.means("X 00 00", "X 00 00"))
    #expect(Names.PCSC.means("X", "X 03 00"))
    #expect(!Names.PCSC.means("X 00 00", "X 01 00"))
    #expect(!Names.PCSC.means("X", "XY 00 00"))
    #expect(!Names.PCSC.means("X", "x 00 00"))
  }

  @Test func `only a device string with the prefix holds a name`() {
    #expect(Names.PCSC.readerName(inDevice: "pcsc:A: B") == "A: B")
    #expect(Names.PCSC.readerName(inDevice: "pcsc:") == "")
    #expect(Names.PCSC.readerName(inDevice: "acr122_pcsc:A") == nil)
  }
}
