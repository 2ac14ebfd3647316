import Names
import Tags
import Testing

@testable import PCSCReader
@testable import ReaderModels

@Suite struct CardChannelTests {
  // MARK: Selecting the tag again

  @Test(arguments: [TagActivation.type2, .type4, .classic, .type5, .type3])
  func `a selection takes the power, and compares the identifier`(_ tag: TagActivation) throws {
    var channel = identified(tag, tag.identifier, .reset, .send("FF CA 00 00 00", tag.identifier + [0x90, 0x00]))
    try channel.reselect()
    #expect(channel.tag == tag)
    #expect(channel.exchanges == 1)
    var other = identified(tag, tag.identifier, .reset, .send("FF CA 00 00 00", "09 09 09 09 90 00"))
    #expect(throws: TagChannelError(.noAnswer, "the tag was removed")) { try other.reselect() }
  }

  @Test func `a card that may be another one is asked for its identifier alone`() throws {
    var channel = identified(
      .type2, TagActivation.type2.identifier, .send("FF CA 00 00 00", TagActivation.type2.identifier + [0x90, 0x00]),
      .send("FF CA 00 00 00", "09 09 09 09 90 00"))
    let answers = try [channel.isSameTag(), channel.isSameTag()]
    #expect(answers == [true, false])
    #expect(channel.remaining == 0)
  }

  @Test func `a card with a random identifier has another one after a selection`() throws {
    let tag = TagActivation.typeA(TypeAActivation(type: .type4A, uid: [8, 1, 2, 3], historicalBytes: [0x80]))
    var channel = identified(tag, [8, 1, 2, 3], .reset, .send("FF CA 00 00 00", "08 04 05 06 90 00"))
    try channel.reselect()
    #expect(
      channel.tag == .typeA(TypeAActivation(type: .type4A, uid: [8, 4, 5, 6], historicalBytes: [0x80])))
    var other = identified(tag, [8, 1, 2, 3], .reset, .send("FF CA 00 00 00", "04 04 05 06 90 00"))
    #expect(throws: TagChannelError.self) { try other.reselect() }
  }

  @Test func `a card of Type B may have another identifier after a selection`() throws {
    var channel = identified(.type4B, [1, 2, 3, 4], .reset, .send("FF CA 00 00 00", "05 06 07 08 90 00"))
    try channel.reselect()
    #expect(channel.tag.identifier == [5, 6, 7, 8])
    #expect(channel.tag.type == .type4B)
  }

  @Test func `a tag of Type 1 is asked for its identifier`() throws {
    var channel = identified(
      .type1, [1, 2, 3, 4], model: .uTrust3700, .reset, .send("FF 50 00 00 00", "11 48 01 02 03 04 90 00"), .reset,
      .send("FF 50 00 00 00", "11 48 01 02 03 05 90 00"))
    try channel.reselect()
    #expect(throws: TagChannelError.self) { try channel.reselect() }
  }

  @Test func `a FeliCa card is compared by what the reader reports, not by the system that was found`() throws {
    var channel = identified(
      .type3, [9, 2, 3, 4, 5, 6, 7, 8], .reset, .send("FF CA 00 00 00", "09 02 03 04 05 06 07 08 90 00"))
    try channel.reselect()
    #expect(channel.tag == .type3)
  }

  @Test(
    arguments: [
      (.removed, .noAnswer), (.readerGone("why"), .readerGone), (.aborted, .aborted), (.exchange("why"), .noAnswer),
    ] as [(CardFailure, TagChannelError.Code)])
  func `a selection may fail`(_ failure: CardFailure, _ code: TagChannelError.Code) {
    var channel = identified(.type2, [4, 1, 2, 3, 4, 5, 6], .powerCycle(failure))
    #expect(errorCode { try channel.reselect() } == code)
    #expect(channel.failure == failure)
  }

  // MARK: Commands

  @Test func `every command counts, also one that is not sent`() {
    var channel = cardChannel(.generic, .type4, .send("00 B0 00 00 05", "90 00"))
    _ = try? channel.exchange(hex("00 B0 00 00 05"))
    _ = try? channel.exchange(hex("FF CA 00 00 00"))
    #expect(channel.exchanges == 2)
  }

  @Test(arguments: TagType.allCases)
  func `a command that is empty or too long is sent by no reader`(_ type: TagType) {
    for model in ReaderModel.all + [.generic] {
      #expect(model.obstacle(to: [], for: type) != nil)
      #expect(model.obstacle(to: [UInt8](repeating: 0x02, count: 70_000), for: type, takesExtendedAPDUs: true) != nil)
    }
  }

  /// The reader has reported an identifier of the tag.
  private func identified(
    _ tag: TagActivation, _ identifier: [UInt8], model: ReaderModel = .generic, _ script: ScriptedConnection.Step...
  ) -> ScriptedCardChannel {
    var link = CardLink(ScriptedConnection(script), model: model)
    link.identifier = identifier
    return CardChannel(link, tag: tag)
  }
}

@Suite struct CardLinkTests {
  @Test func `an answer is data and a status word`() {
    #expect(CardAnswer(hex("01 02 90 00"))?.data == [1, 2])
    #expect(CardAnswer(hex("90 00"))?.status.isSuccess == true)
    #expect(CardAnswer([]) == nil)
    #expect(CardAnswer([0x90]) == nil)
    #expect(CardAnswer([UInt8](repeating: 0, count: 65_538)) != nil)
    #expect(CardAnswer([UInt8](repeating: 0, count: 65_539)) == nil)
  }

  @Test func `an answer without a status word is a failed transmission`() {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "90"))
    #expect(throws: TagChannelError(.transmission, "the reader gave an answer of 1 bytes, which is none")) {
      try link.fetch(.identifier)
    }
  }

  @Test func `the reader's own length is used once`() throws {
    var link = cardLink(.generic, .send("FF B0 00 04 10", "6C 04"), .send("FF B0 00 04 04", "01 02 03 04 90 00"))
    #expect(try link.fetch(.read(4, 16)) == [1, 2, 3, 4])
    var other = cardLink(.generic, .send("FF B0 00 04 10", "6C 04"), .send("FF B0 00 04 04", "6C 08"))
    #expect(throws: TagChannelError.self) { try other.fetch(.read(4, 16)) }
    #expect(other.connection.remaining == 0)
  }

  @Test func `an answer that is held back is fetched once`() throws {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "01 02 61 02"), .send("FF C0 00 00 02", "03 04 90 00"))
    #expect(try link.fetch(.identifier) == [1, 2, 3, 4])
    var other = cardLink(.generic, .send("FF CA 00 00 00", "61 00"), .send("FF C0 00 00 00", "61 10"))
    #expect(throws: TagChannelError.self) { try other.fetch(.identifier) }
    #expect(other.connection.remaining == 0)
  }

  @Test func `fewer bytes than requested are an answer`() throws {
    var link = cardLink(.generic, .send("FF B0 00 04 10", "01 02 03 04 62 82"), .send("FF B0 00 08 10", "62 82"))
    #expect(try link.fetch(.read(4, 16)) == [1, 2, 3, 4])
    #expect(throws: TagChannelError.self) { try link.fetch(.read(8, 16)) }
  }

  @Test(arguments: ["63 00", "64 01", "69 82", "6A 81", "6A 82", "6B 00", "67 00", "6F 00", "62 00", "6D 00", "6E 00"])
  func `a status word tells that there is no answer, or that the reader does not know the command`(_ status: String) {
    var link = cardLink(.generic, .send("FF B0 00 04 10", status))
    let error =
      ["6D 00", "6E 00"].contains(status)
      ? TagChannelError(.unsupported, "the reader does not know this command (status \(status))")
      : TagChannelError(.noAnswer, "the tag does not answer (status \(status))")
    #expect(throws: error) { try link.fetch(.read(4, 16)) }
  }

  @Test(
    arguments: [
      (.removed, .noAnswer), (.reset, .transmission), (.exchange("why"), .noAnswer), (.readerGone("why"), .readerGone),
      (.aborted, .aborted),
    ] as [(CardFailure, TagChannelError.Code)])
  func `a failure is kept, and is an error of the channel`(_ failure: CardFailure, _ code: TagChannelError.Code) {
    var link = cardLink(.generic, .fail("FF CA 00 00 00", failure), .send("FF CA 00 00 00", "01 02 03 04 90 00"))
    #expect(errorCode { try link.fetch(.identifier) } == code)
    #expect(link.failure == failure)
    _ = try? link.fetch(.identifier)
    #expect(link.failure == nil)
  }

  @Test func `only a failed exchange may be followed by a successful one`() {
    #expect(!CardFailure.exchange("why").endsConnection)
    for failure in [.removed, .reset, .readerGone("why"), .aborted] as [CardFailure] {
      #expect(failure.endsConnection)
    }
  }
}
