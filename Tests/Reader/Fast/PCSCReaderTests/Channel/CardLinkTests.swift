import ReaderModels
import Tags
import Testing

@testable import PCSCReader

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
