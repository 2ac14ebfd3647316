import Tags
import Testing

@testable import PCSCReader

@Suite struct TransparentSessionTests {
  private static let start = ScriptedConnection.Step.send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00")
  private static let typeA = ScriptedConnection.Step.send("FF C2 00 02 04 8F 02 00 03", "C0 03 00 90 00 90 00")
  private static let getVersion = "FF C2 00 01 0E 90 02 00 10 5F 46 04 50 C3 00 00 95 01 60 00"

  @Test(
    arguments: [
      // The tag is silent; there are no data; the reader does not know the command.
      ("C0 03 01 64 01 90 00", .noAnswer), ("C0 03 00 90 00 90 00", .noAnswer), ("90 00", .noAnswer),
      ("63 00", .noAnswer), ("C0 03 01 6A 81 90 00", .unsupported), ("6D 00", .unsupported),
      // The answer, its status or the tag's frame is damaged.
      ("97 05 01 90 00", .transmission), ("C0 02 00 90 90 00", .transmission),
      ("C0 03 00 90 00 96 02 01 00 97 01 60 90 00", .transmission),
    ] as [(String, TagChannelError.Code)])
  func `an answer without data is an error`(_ answer: String, _ code: TagChannelError.Code) {
    var channel = cardChannel(.acr1252, .type2, Self.start, Self.typeA, .send(Self.getVersion, answer))
    #expect(errorCode { try channel.exchange([0x60]) } == code)
    #expect(channel.remaining == 0)
  }

  @Test(arguments: [
    ("97 01 0A", true), ("92 01 04 97 01 0A", true), ("92 01 04 97 01 FA", true), ("97 01 0A 96 02 05 00", true),
    ("97 01 00", false), ("92 01 04 97 01 01", false), ("92 01 04 97 01 05", false),
  ])
  func `four bits are an acknowledgement or a refusal`(_ objects: String, isAcknowledged: Bool) {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, Self.typeA,
      .send(
        "FF C2 00 01 0F 90 02 00 12 5F 46 04 50 C3 00 00 95 02 C2 FF 00", hex("C0 03 00 90 00 \(objects) 90 00")))
    var answer: [UInt8]?
    #expect(errorCode { answer = try channel.exchange([0xC2, 0xFF]) } == (isAcknowledged ? nil : .noAnswer))
    #expect(answer == (isAcknowledged ? [0x0A] : nil))
  }

  @Test func `silence confirms a sector within five milliseconds`() {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, Self.typeA,
      .send(
        "FF C2 00 01 11 90 02 00 12 5F 46 04 88 13 00 00 95 04 01 00 00 00 00", "C0 03 03 64 01 90 00"))
    #expect(errorCode { try channel.exchange([0x01, 0x00, 0x00, 0x00]) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test func `the field is switched on if the protocol cannot be switched`() throws {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, .send("FF C2 00 02 04 8F 02 00 03", "C0 03 01 64 01 90 00"),
      .send("FF C2 00 00 02 84 00", "C0 03 00 90 00 90 00"), Self.typeA,
      .send(Self.getVersion, "C0 03 00 90 00 97 01 55 90 00"))
    #expect(try channel.exchange([0x60]) == [0x55])
  }

  @Test func `a removed tag leaves the session to be ended`() {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, .fail("FF C2 00 02 04 8F 02 00 03", .exchange("no answer")),
      .send("FF C2 00 00 02 82 00", "90 00"))
    #expect(errorCode { try channel.exchange([0x60]) } == .noAnswer)
    #expect(channel.failure == .exchange("no answer"))
    channel.link.endSession()
    #expect(channel.failure == .exchange("no answer"))
    #expect(channel.remaining == 0)
  }

  @Test func `nothing is sent over a connection that has ended`() {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, .fail("FF C2 00 02 04 8F 02 00 03", .removed))
    #expect(errorCode { try channel.exchange([0x60]) } == .noAnswer)
    channel.link.endSession()
    #expect(channel.remaining == 0)
  }

  @Test func `a lost answer to the start is no refusal, for a reader with one word for every failure`() throws {
    var channel = cardChannel(
      .acr1252, .type2, .send("FF C2 00 00 02 81 00", "63 00"), Self.start, Self.typeA,
      .send(Self.getVersion, "C0 03 00 90 00 92 01 00 96 02 00 00 97 08 00 04 04 02 01 00 11 03 90 00"))
    #expect(errorCode { try channel.exchange([0x60]) } == .noAnswer)
    #expect(try channel.exchange([0x60]) == hex("00 04 04 02 01 00 11 03"))
    #expect(channel.remaining == 0)
  }

  @Test func `a selection ends the session`() throws {
    var channel = cardChannel(
      .acr1252, .type2, Self.start, Self.typeA, .send(Self.getVersion, "C0 03 01 64 01 90 00"),
      .send("FF C2 00 00 02 82 00", "90 00"), .reset, .send("FF CA 00 00 00", "04 01 02 03 04 05 06 90 00"))
    var link = channel.link
    link.identifier = [4, 1, 2, 3, 4, 5, 6]
    channel = CardChannel(link, tag: .type2)
    #expect(errorCode { try channel.exchange([0x60]) } == .noAnswer)
    try channel.reselect()
    #expect(channel.remaining == 0)
  }

  // MARK: Data objects

  @Test func `data objects have one or two bytes of tag, and up to three of length`() {
    let long = [UInt8](repeating: 7, count: 0x100)
    let objects = DataObjects(hex("92 01 03 5F 46 04 01 02 03 04 97 82 01 00") + long)
    #expect(objects?[0x92] == [3])
    #expect(objects?[0x5F46] == [1, 2, 3, 4])
    #expect(objects?[0x97] == long)
    #expect(objects?[0xC0] == nil)
    #expect(DataObjects(hex("97 81 02 01 02"))?[0x97] == [1, 2])
    #expect(DataObjects([])?[0x97] == nil)
    // The first of two objects counts.
    #expect(DataObjects(hex("97 01 01 97 01 02"))?[0x97] == [1])
  }

  @Test(
    arguments: [
      "97", "97 01", "97 81", "97 82 01", "97 82 00 02 01", "5F", "97 83 00 00 01 01", "97 80", "97 01 01 92",
    ])
  func `an object that is cut off is no answer`(_ bytes: String) {
    #expect(DataObjects(hex(bytes)) == nil)
  }
}
