import ReaderModels
import Tags
import Testing

@testable import PCSCReader

@Suite struct Type2ChannelTests {
  private static let pages = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"

  // MARK: READ and WRITE

  @Test func `a reader that returns more than four pages is cut short`() throws {
    var channel = cardChannel(.generic, .type2, .send("FF B0 00 04 10", "\(Self.pages) FF FF 90 00"))
    #expect(try channel.exchange([0x30, 0x04]) == hex(Self.pages))
  }

  @Test func `a reader that returns single pages is asked for four`() throws {
    var channel = cardChannel(
      .generic, .type2, .send("FF B0 00 FE 10", "6C 04"), .send("FF B0 00 FE 04", "00 01 02 03 90 00"),
      .send("FF B0 00 FF 04", "04 05 06 07 90 00"), .send("FF B0 00 00 04", "08 09 0A 0B 90 00"),
      .send("FF B0 00 01 04", "0C 0D 0E 0F 90 00"))
    #expect(try channel.exchange([0x30, 0xFE]) == hex(Self.pages))
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["", "00", "00 01 02 03 04"])
  func `an answer that is no pages is a failed transmission`(_ data: String) {
    var channel = cardChannel(.generic, .type2, .send("FF B0 00 04 10", hex(data) + [0x90, 0x00]))
    #expect(throws: TagChannelError.self) { try channel.exchange([0x30, 0x04]) }
    #expect(channel.remaining == 0)
  }

  @Test func `WRITE is FF D6 for one page`() throws {
    var channel = cardChannel(
      .generic, .type2, .send("FF D6 00 04 04 01 02 03 04", "90 00"), .send("FF D6 00 04 04 01 02 03 04", "63 00"))
    #expect(try channel.exchange([0xA2, 0x04, 1, 2, 3, 4]) == [0x0A])
    #expect(errorCode { try channel.exchange([0xA2, 0x04, 1, 2, 3, 4]) } == .noAnswer)
  }

  @Test func `a Feitian R502 does not get a page that it refuses`() throws {
    var channel = cardChannel(.r502, .type2, .send("FF B0 00 0F 10", "\(Self.pages) 90 00"))
    #expect(try channel.exchange([0x30, 0x0F]) == hex(Self.pages))
    #expect(errorCode { try channel.exchange([0x30, 0x10]) } == .unsupported)
    #expect(errorCode { try channel.exchange([0xA2, 0x10, 1, 2, 3, 4]) } == .unsupported)
    #expect(!channel.canSend([0x30, 0x10]))
  }

  @Test(arguments: ["60", "3A 04 10", "C2 FF", "01 00 00 00", "1B 01 02 03 04", "30", "A2 04 01"])
  func `other commands are not sent by a reader of pages`(_ command: String) {
    var channel = cardChannel(.generic, .type2)
    #expect(!channel.canSend(hex(command)))
    #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
  }

  // MARK: ACR122U

  @Test func `an ACR122U uses its chip's commands`() throws {
    var channel = cardChannel(
      .acr122, .type2, .send("FF 00 00 00 05 D4 40 01 30 04", "D5 41 00 \(Self.pages) 90 00"),
      .send("FF 00 00 00 09 D4 40 01 A2 04 01 02 03 04", "D5 41 00 90 00"),
      .send("FF 00 00 00 03 D4 42 60", "D5 43 00 00 04 04 02 01 00 0F 03 90 00"),
      .send("FF 00 00 00 05 D4 42 3A 04 04", "D5 43 00 01 02 03 04 90 00"))
    #expect(try channel.exchange([0x30, 0x04]) == hex(Self.pages))
    #expect(try channel.exchange([0xA2, 0x04, 1, 2, 3, 4]) == [0x0A])
    #expect(try channel.exchange([0x60]) == [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03])
    #expect(try channel.exchange([0x3A, 0x04, 0x04]) == [1, 2, 3, 4])
    #expect(channel.canSend([0x60]) && channel.canSend([0x3A, 0x04, 0x04]) && channel.canSend([0xC2, 0xFF]))
  }

  @Test func `an ACR122U selects a sector without the check of the CRC`() throws {
    var channel = cardChannel(
      .acr122, .type2, .send("FF 00 00 00 05 D4 08 63 03 00", "D5 09 90 00"),
      .send("FF 00 00 00 04 D4 42 C2 FF", "D5 43 00 0A 90 00"),
      .send("FF 00 00 00 05 D4 08 63 03 80", "D5 09 90 00"),
      .send("FF 00 00 00 05 D4 08 63 03 00", "D5 09 90 00"), .send("FF 00 00 00 06 D4 32 02 00 0B 05", "D5 33 90 00"),
      .send("FF 00 00 00 06 D4 42 01 00 00 00", "D5 43 01 90 00"),
      .send("FF 00 00 00 06 D4 32 02 00 0B 0A", "D5 33 90 00"),
      .send("FF 00 00 00 05 D4 08 63 03 80", "D5 09 90 00"))
    #expect(try channel.exchange([0xC2, 0xFF]) == [0x0A])
    // Silence confirms the second packet.
    #expect(errorCode { try channel.exchange([0x01, 0x00, 0x00, 0x00]) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test(
    arguments: [
      ("D5 41 01 90 00", .noAnswer), ("D5 41 14 90 00", .noAnswer), ("D5 41 02 90 00", .noAnswer), ("63 00", .noAnswer),
      ("63 01", .noAnswer), ("D5 43 00 90 00", .noAnswer), ("90 00", .noAnswer), ("D5 90 00", .noAnswer),
      ("D5 41 27 90 00", .transmission), ("90", .transmission),
    ] as [(String, TagChannelError.Code)])
  func `an error of the chip is a missing or invalid answer`(_ answer: String, _ code: TagChannelError.Code) {
    var channel = cardChannel(.acr122, .type2, .send("FF 00 00 00 05 D4 40 01 30 04", answer))
    #expect(errorCode { try channel.exchange([0x30, 0x04]) } == code)
  }

  @Test func `a failed transmission to the chip keeps its reason`() {
    var channel = cardChannel(.acr122, .type2, .fail("FF 00 00 00 05 D4 40 01 30 04", .readerGone("unplugged")))
    #expect(throws: TagChannelError(.readerGone, "unplugged")) { try channel.exchange([0x30, 0x04]) }
    #expect(channel.failure == .readerGone("unplugged"))
  }

  // MARK: Transparent session

  private static let opening: [ScriptedConnection.Step] = [
    .send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00"),
    .send("FF C2 00 02 04 8F 02 00 03", "C0 03 00 90 00 90 00"),
  ]

  @Test func `an ACR1252U sends a raw command in a session, and ends it`() throws {
    var channel = CardChannel(
      CardLink(
        ScriptedConnection(
          Self.opening + [
            .send(
              "FF C2 00 01 0E 90 02 00 10 5F 46 04 50 C3 00 00 95 01 60 00",
              "C0 03 00 90 00 92 01 00 96 02 00 00 97 08 00 04 04 02 01 00 0F 03 90 00"),
            .send(
              "FF C2 00 01 0F 90 02 00 10 5F 46 04 50 C3 00 00 95 02 30 04 00",
              "C0 03 00 90 00 92 01 00 96 02 00 00 97 10 \(Self.pages) 90 00"),
            .send(
              "FF C2 00 01 13 90 02 00 12 5F 46 04 50 C3 00 00 95 06 A2 04 01 02 03 04 00",
              "C0 03 00 90 00 92 01 04 96 02 00 00 97 01 0A 90 00"),
            .send("FF C2 00 00 02 82 00", "C0 03 00 90 00 90 00"),
          ]), model: .acr1252), tag: .type2)
    #expect(channel.canSend([0x60]) && channel.canSend([0xC2, 0xFF]))
    #expect(try channel.exchange([0x60]) == [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03])
    // While the session is open, everything goes through it.
    #expect(try channel.exchange([0x30, 0x04]) == hex(Self.pages))
    #expect(try channel.exchange([0xA2, 0x04, 1, 2, 3, 4]) == [0x0A])
    channel.link.endSession()
    channel.link.endSession()
    #expect(channel.remaining == 0)
  }

  @Test func `reading pages opens no session`() throws {
    var channel = cardChannel(.acr1252, .type2, .send("FF B0 00 04 10", "\(Self.pages) 90 00"))
    #expect(!channel.canSend([0x3A, 0x04, 0x27]))
    #expect(try channel.exchange([0x30, 0x04]) == hex(Self.pages))
    channel.link.endSession()
    #expect(channel.remaining == 0)
  }

  @Test func `a reader that refuses a session is not asked again`() throws {
    var channel = cardChannel(
      .acr1252, .type2, .send("FF C2 00 00 02 81 00", "6A 81"), .send("FF B0 00 04 10", "\(Self.pages) 90 00"))
    #expect(errorCode { try channel.exchange([0x60]) } == .unsupported)
    #expect(!channel.canSend([0x60]))
    #expect(errorCode { try channel.exchange([0x60]) } == .unsupported)
    #expect(try channel.exchange([0x30, 0x04]) == hex(Self.pages))
    channel.link.endSession()
    #expect(channel.remaining == 0)
  }

  // MARK: SpringCard

  @Test func `a SpringCard reader sends frames whose answer has a CRC`() throws {
    var channel = cardChannel(
      .springCardReader, .type2, .send("FF FE 01 08 01 60", "00 04 04 02 01 00 0F 03 90 00"))
    #expect(try channel.exchange([0x60]) == [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03])
    for command in ["C2 FF", "01 00 00 00", "A5 02 01 00 00 00"] {
      #expect(!channel.canSend(hex(command)))
      #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
    }
  }
}
