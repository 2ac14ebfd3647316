import Names
import ReaderProtocol
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

/// Decisions in a reader session, without a chip.
@Suite struct SessionDecisionTests {
  struct Script: TagChannel {
    var answers: [Result<[UInt8], TagChannelError>]
    var commands: [[UInt8]] = []

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      commands.append(command)
      guard !answers.isEmpty else { throw TagChannelError(.noAnswer, "the script is over") }
      return try answers.removeFirst().get()
    }

    mutating func reselect() throws(TagChannelError) {}
  }

  /// A Type 2 tag that supports only READ.
  struct Memory: TagChannel {
    let bytes: [UInt8]

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      guard command.count == 2, command[0] == 0x30 else { throw TagChannelError(.noAnswer, "refused") }
      return (0..<16).map { bytes[(Int(command[1]) * 4 + $0) % bytes.count] }
    }

    mutating func reselect() throws(TagChannelError) {}
  }

  let ultralight = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))

  // MARK: Operations

  @Test func `a read-only tag is not written`() throws {
    // A capability container that forbids writing, and an empty message.
    let memory: [UInt8] =
      [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0, 0xE1, 0x10, 0x06, 0x0F, 0x03, 0x00, 0xFE]
      + [UInt8](repeating: 0, count: 61)
    var channel = Memory(bytes: memory)
    let result = try ReaderOperation.write([0xD0, 0, 0], verify: false).perform(on: ultralight, over: &channel)
    #expect(result == .failed(.readOnly, reason: "the tag is read-only"))
  }

  @Test func `a failed exchange throws instead of returning a result`() {
    var channel = Script(answers: [.failure(TagChannelError(.transmission, "x"))])
    #expect(throws: TagChannelError(.transmission, "x")) {
      _ = try ReaderOperation.write([0xD0, 0, 0], verify: false).perform(on: ultralight, over: &channel)
    }
  }

  @Test func `impossible operations fail without an exchange`() {
    let classic = TagActivation.typeA(TypeAActivation(atqa: [0, 4], sak: 8, uid: [1, 2, 3, 4]))
    let card = TagActivation.typeA(TypeAActivation(atqa: [3, 4], sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6], ats: [1]))
    let broken = TagActivation.typeA(
      TypeAActivation(atqa: [3, 4], sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6], ats: [9, 1]))
    func failure(_ operation: ReaderOperation, _ tag: TagActivation) -> ReaderOperationFailure? {
      if case .failed(let failure, _)? = operation.refusal(for: tag) { failure } else { nil }
    }
    #expect(failure(.transceive([0x30, 0], timeout: 1), classic) == .notSupported)
    #expect(failure(.read, classic) == nil)
    #expect(failure(.transceive([UInt8](repeating: 0, count: 251), timeout: 1), ultralight) == .tooLong)
    #expect(failure(.transceive([UInt8](repeating: 0, count: 251), timeout: 1), card) == nil)
    #expect(failure(.query, broken) == .refused)
    // A PC/SC reader does not report the answer to select.
    #expect(failure(.query, .typeA(TypeAActivation(type: .type4A, uid: [4, 1, 2, 3, 4, 5, 6]))) == nil)
  }

  @Test func `progress counts the bytes that are read or written`() throws {
    var now = SuspendingClock.now
    var told: [UInt32] = []
    let answers = [[UInt8]](repeating: [UInt8](repeating: 0, count: 16), count: 4).map {
      Result<_, TagChannelError>.success($0)
    }
    var channel = ProgressChannel(
      Script(answers: answers), .type2, counts: .reading, now: { now }, tell: { told.append($0) })
    for command: [UInt8] in [[0x30, 0], [0x60], [0x30, 4], [0x30, 8]] {
      now += .milliseconds(130)
      _ = try channel.exchange(command)
    }
    #expect(told == [16, 48])
    var writing = ProgressChannel(
      Script(answers: [.success([0x0A]), .success([])]), .type2, counts: .writing, now: { now },
      tell: { told.append($0) })
    now += .seconds(1)
    _ = try writing.exchange([0xA2, 4, 1, 2, 3, 4])
    now += .seconds(1)
    _ = try writing.exchange([0x30, 4])
    #expect(told.suffix(2) == [4, 4])
  }

  @Test(
    arguments: [
      ([0x02, 0x20, 0], 5, 4), ([0x02, 0x23, 1, 15], 65, 64), ([0x02, 0x33, 0, 1, 60, 0], 245, 244),
      ([0x02, 0x2C, 0, 9], 11, 0), ([0x42, 0x21, 1, 1, 2, 3, 4], 1, 4), ([0x02, 0x31, 0, 1, 1, 2, 3, 4], 1, 4),
      ([0x02, 0x22, 1], 1, 0),
    ] as [([UInt8], Int, UInt32)]) func `progress counts the blocks of a Type 5 tag`(
      command: [UInt8], answer: Int, bytes: UInt32
    ) throws
  {
    var now = SuspendingClock.now
    var told: [UInt32] = []
    let script = Script(answers: [.success([UInt8](repeating: 0, count: answer))])
    let isWrite = command[1] & 0x0F == 1
    var channel = ProgressChannel(
      script, .type5, counts: isWrite ? .writing : .reading, now: { now }, tell: { told.append($0) })
    now += .seconds(1)
    _ = try channel.exchange(command)
    #expect(told == [bytes])
    #expect(channel.canSend(command))
  }

  @Test(arguments: [
    (Duration.milliseconds(1), UInt8(0x05)), (.milliseconds(51), 0x0A), (.milliseconds(52), 0x0B),
    (.milliseconds(1638), 0x0F), (.seconds(3), 0x10), (.seconds(5), 0x10),
  ]) func `the timeout of the chip is at least the time that a tag may take`(time: Duration, code: UInt8) {
    #expect(AnswerTimeout.code(atLeast: time) == code)
  }

  // MARK: After a session

  func typeA(_ uid: [UInt8]) -> TagActivation {
    .typeA(TypeAActivation(atqa: [3, 4], sak: 0x20, uid: uid, ats: [1]))
  }

  private let includeFirst = KnownTags(includesFirst: true)

  @Test func `the first looks after another program used the reader announce no tag`() {
    var field = TargetField([.typeA, .typeB])
    let (first, second) = (typeA([4, 1, 2, 3, 4, 5, 1]), typeA([4, 1, 2, 3, 4, 5, 2]))
    field.know(includeFirst)
    #expect(field.isFirst(.typeA))
    #expect(field.looked(for: .typeA, found: [first]) == [.known(1, first)])
    #expect(field.looked(for: .typeA, found: [first]) == [])
    #expect(!field.isFirst(.typeA) && field.isFirst(.typeB))
    #expect(field.looked(for: .typeA, found: [first, second]) == [.arrived(2, second)])
  }

  /// A single look may miss a tag that is there.
  @Test func `a tag that the first look misses is not announced until it was removed`() {
    var field = TargetField([.typeA])
    let (first, second) = (typeA([4, 1, 2, 3, 4, 5, 1]), typeA([4, 1, 2, 3, 4, 5, 2]))
    field.know(includeFirst)
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: [first]) == [.known(1, first)])
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: []) == [.left(1)])
    #expect(field.looked(for: .typeA, found: [first]) == [.arrived(2, first)])
    // The same is true for the second of two tags.
    field.know(includeFirst)
    #expect(field.looked(for: .typeA, found: [first]) == [])
    #expect(field.looked(for: .typeA, found: [first, second]) == [.known(3, second)])
  }

  /// If the resting tag may have a new identifier, the tag that is found is taken for it. Its content does not matter.
  @Test func `a tag with a random identifier is not compared in the first look`() {
    var field = TargetField([.typeA])
    let (before, after) = (typeA([8, 1, 1, 1]), typeA([8, 2, 2, 2]))
    _ = field.looked(for: .typeA, found: [before])
    field.examined(1, before, .message([0xD0, 0, 0]))
    field.know(includeFirst)
    #expect(field.looked(for: .typeA, found: [after]) == [])
    _ = field.looked(for: .typeA, found: [])
    #expect(field.looked(for: .typeA, found: []) == [.left(1)])
  }
}

/// When a session has reported all tags that lie there together, without a chip.
@Suite struct TagRoundTests {
  @Test func `a round ends once every technology was looked for since its first tag`() {
    var round = TagRound([.typeA, .felica212])
    // A look from before the first tag does not count.
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.reported()
    #expect(round.settle() == false)
    #expect(round.isOpen)
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.looked(for: .typeA)
    #expect(round.settle() == true)
    #expect(!round.isOpen)
    // The next round needs another tag.
    round.looked(for: .felica212)
    round.looked(for: .typeA)
    #expect(round.settle() == false)
  }

  @Test func `a round ends in the step that finds its tag if this step looks for every technology`() {
    var round = TagRound([.typeA, .felica212])
    for modulation in [.typeA, .felica212] as [Modulation] { round.looked(for: modulation) }
    round.reported()
    #expect(round.settle() == true)
  }

  @Test func `looks that were broken off do not count`() {
    var round = TagRound([.typeA, .felica212])
    round.reported()
    round.looked(for: .typeA)
    round.brokeOff()
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.looked(for: .typeA)
    #expect(round.settle() == true)
  }
}
