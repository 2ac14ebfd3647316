import ReaderProtocol
import Rig
import Testing

@testable import PCSCReader

/// Values that pcscd and drivers report. They may have any content.
@Suite struct SlotStateTests {
  @Test(
    arguments: [
      (0x0000_0012, SlotState(isPresent: false, counter: 0)),
      (0x0001_0022, SlotState(isPresent: true, counter: 1, atr: [0x3B, 0x80])),
      (0x0001_0122, SlotState(isPresent: true, counter: 1, atr: [0x3B, 0x80])),
      (0x0003_00A2, SlotState(isPresent: true, counter: 3, atr: [0x3B, 0x80], isExclusive: true)),
      (0xFFFF_0222, SlotState(isPresent: true, counter: 0xFFFF, atr: [0x3B, 0x80], isMute: true)),
    ] as [(UInt32, SlotState)])
  func `the bits of a state word mean what pcsclite says`(word: UInt32, state: SlotState) {
    #expect(SlotState(word: word, atr: [0x3B, 0x80]) == state)
  }

  @Test func `an answer to reset is cut to its longest form, and belongs to a card that is there`() {
    #expect(SlotState(word: 0x20, atr: Array(repeating: 0x3B, count: 40)).atr.count == 33)
    #expect(SlotState(word: 0x10, atr: [0x3B]).atr == [])
    #expect(SlotState(word: 0x20, atr: []).atr == [])
  }

  /// The words that pcscd reports one after the other, and the number of each state.
  @Test(
    arguments: [
      // Counted a moment after the report, or at once.
      ([0x7_0010, 0x7_0020, 0x8_0020, 0x8_0120], [7, 7, 7, 7]), ([0x7_0010, 0x8_0020, 0x8_0120], [7, 8, 8]),
      // The reader is new, or was unavailable.
      ([0x7_0020, 0x8_0020], [7, 7]), ([0x7_000C, 0x7_0020, 0x8_0020], [7, 7, 7]), ([0x8_0020], [8]),
      // Neither the removal nor the insertion is counted yet.
      ([0x8_0020, 0x8_0010, 0x9_0020, 0xA_0020], [8, 8, 9, 9]),
      // Another card, without a report in between.
      ([0x8_0020, 0xA_0020], [8, 10]), ([0x8_0020, 0x9_0020, 0xA_0020], [8, 8, 10]),
      ([0xFFFF_0010, 0xFFFF_0020, 0x0000_0020, 0x0001_0020], [0xFFFF, 0xFFFF, 0xFFFF, 1]),
    ] as [([UInt32], [UInt16])])
  func `a card keeps its number until it is removed`(words: [UInt32], numbers: [UInt16]) {
    var states: [SlotState] = []
    for word in words { states.append(SlotState(word: word, after: states.last, atr: [])) }
    #expect(states.map(\.counter) == numbers)
  }

  // MARK: Names

  @Test(
    arguments: [
      ([], []), ([0], []), (Array("A\0B\0\0".utf8), ["A", "B"]), (Array("A 00 00\0\0C\0".utf8), ["A 00 00"]),
      // A list that is cut off.
      (Array("A\0B".utf8), ["A"]),
    ] as [([UInt8], [String])])
  func `a list of names ends with an empty one`(list: [UInt8], names: [String]) {
    #expect(ReaderName.all(in: list).map(\.text) == names)
  }

  @Test(
    arguments: [
      (Array("Lecteur à puce 00 00".utf8), "Lecteur à puce 00 00"), ([0x41, 0xFF, 0x42], "A\u{FFFD}B"),
      (Array("A\nreaders 1\u{2028}\u{7F}".utf8), "A\u{FFFD}readers 1\u{FFFD}\u{FFFD}"),
    ] as [([UInt8], String)])
  func `a name has no line breaks as text, and its bytes for pcscd`(bytes: [UInt8], text: String) {
    let name = ReaderName(bytes: bytes)
    #expect(name.text == text)
    #expect(name.terminated == bytes.map { CChar(bitPattern: $0) } + [0])
  }

  // MARK: Properties

  @Test func `the properties of a reader are found by their tags`() {
    let answer: [UInt8] = [0x0B, 2, 0x2F, 0x07, 0x0C, 2, 0x3B, 0x22, 0x0A, 4, 0, 0, 1, 0, 0x99, 1, 7]
    let properties = ReaderProperties(answer)
    #expect(properties.vendor == 0x072F && properties.product == 0x223B && properties.mostAPDUData == 65_536)
  }

  @Test(
    arguments: [
      [], [0x0B], [0x0B, 2], [0x0B, 2, 0x2F], [0x0B, 4, 0x2F, 0x07, 0, 0], [0x0B, 0], [0x0B, 255, 1, 2],
    ] as [[UInt8]])
  func `malformed properties are none`(answer: [UInt8]) {
    #expect(ReaderProperties(answer) == ReaderProperties())
  }

  @Test func `a long value does not overflow`() {
    let answer: [UInt8] = [0x20, 200] + Array(repeating: 0xFF, count: 200) + [0x0B, 2, 0x2F, 0x07]
    #expect(ReaderProperties(answer).vendor == 0x072F)
  }

  @Test(
    arguments: [
      ([0x06, 4, 0x42, 0x33, 0, 6, 0x12, 4, 0x42, 0x33, 0, 0x12], 0x4233_0012), ([0x12, 4, 0x42, 0, 0], nil),
      ([0x06, 4, 0x42, 0x33, 0, 6], nil), ([0x12, 3, 0x42, 0x33, 0, 0x12], nil), ([], nil),
    ] as [([UInt8], UInt32?)])
  func `the request for the properties is one of the driver's features`(features: [UInt8], request: UInt32?) {
    #expect(ReaderProperties.request(inFeatures: features) == request)
  }

  // MARK: Errors

  @Test func `only the low half of a result is its code`() {
    #expect(PCSCError(result: 0) == nil)
    #expect(PCSCError(result: Int(0x8010_0069)) == .removedCard)
    #expect(PCSCError(result: Int(Int32(bitPattern: 0x8010_0069))) == .removedCard)
  }

  @Test(
    arguments: [
      (PCSCError.noService, .noService), (.securityViolation, .refused), (.communication, .closed),
      (.serviceStopped, .otherVersion), (PCSCError(0x8010_0006), .other),
    ] as [(PCSCError, PCSCProblem.Kind)])
  func `each reason against a connection has its kind and a text of one line`(
    error: PCSCError, kind: PCSCProblem.Kind
  ) {
    let problem = PCSCProblem(error)
    #expect(problem.kind == kind)
    #expect(!problem.text.isEmpty && !problem.text.contains("\n"))
  }
}

/// What an error of pcsc-lite says about the card.
@Suite struct PCSCErrorTests {
  /// Otherwise a tag that was being read when pcscd ended would be announced as damaged. It would then be known.
  /// libpcsclite 1.9.9 has `securityViolation` for a connection that was reset.
  @Test(
    arguments: [.communication, .noService, .serviceStopped, .securityViolation, .invalidHandle] as [PCSCError])
  func `the end of pcscd is no failure of the card`(error: PCSCError) throws {
    guard case .readerGone = Setback(CardReader.CallFailure.pcscd(error)) else {
      throw RigError("\(error) counts as a failure of the card")
    }
  }

  @Test(arguments: [.notTransacted, .removedCard, .noCard] as [PCSCError])
  func `a failed exchange says nothing about pcscd`(error: PCSCError) throws {
    #expect(!error.endsContext)
    guard case .failed = Setback(CardReader.CallFailure.pcscd(error)) else {
      throw RigError("\(error) counts as the end of pcscd")
    }
  }
}
