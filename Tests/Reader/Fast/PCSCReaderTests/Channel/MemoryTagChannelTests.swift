import ReaderModels
import Tags
import Testing

@testable import PCSCReader

@Suite struct Type1ChannelTests {
  private static let uid: [UInt8] = [1, 2, 3, 4]
  private static let block: [UInt8] = [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7]

  @Test(
    arguments: [
      // RID, RALL (cut short), READ, WRITE-E, WRITE-NE, READ8, WRITE-E8, WRITE-NE8.
      ("78 00 00", "FF 50 00 00 00", "11 48 01 02 03 04", "11 48 01 02 03 04"),
      ("00 00 00", "FF 52 00 00 00", "12 4C 01 02", "12 4C 01 02"),
      ("01 08 00", "FF 54 00 08 00", "E1", "08 E1"),
      ("53 0A 55", "FF 56 00 0A 01 55", "55", "0A 55"),
      ("1A 0A 55", "FF 58 00 0A 01 55", "55", "0A 55"),
      ("02 10 00 00 00 00 00 00 00 00", "FF 5C 00 10 00", "01 02 03 04 05 06 07 08", "10 01 02 03 04 05 06 07 08"),
      (
        "54 10 01 02 03 04 05 06 07 08", "FF 5E 00 10 08 01 02 03 04 05 06 07 08", "10 01 02 03 04 05 06 07 08",
        "10 01 02 03 04 05 06 07 08"
      ),
      (
        "1B 10 01 02 03 04 05 06 07 08", "FF 60 00 10 08 01 02 03 04 05 06 07 08", "01 02 03 04 05 06 07 08",
        "10 01 02 03 04 05 06 07 08"
      ),
    ])
  func `an Identiv reader has an instruction for each command`(
    _ command: String, _ apdu: String, _ data: String, _ answer: String
  ) throws {
    var channel = cardChannel(.uTrust3700, .type1, .send(apdu, hex(data) + [0x90, 0x00]))
    #expect(try channel.exchange(hex(command) + Self.uid) == hex(answer))
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["", "E1 E2 E3", "09 E1"])
  func `an answer of another length or address is a failed transmission`(_ data: String) {
    var channel = cardChannel(.uTrust3700, .type1, .send("FF 54 00 08 00", hex(data) + [0x90, 0x00]))
    #expect(throws: TagChannelError.self) { try channel.exchange([0x01, 0x08, 0x00] + Self.uid) }
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["01", "53 08", "54 10 01 02", "99 00 00"])
  func `a command that has no instruction is not sent`(_ command: String) {
    var channel = cardChannel(.uTrust3700, .type1)
    #expect(!channel.canSend(hex(command)))
    #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
  }

  @Test func `an ACR122U reads through its chip`() throws {
    var channel = cardChannel(
      .acr122, .type1, .send("FF 00 00 00 05 D4 40 01 01 08", "D5 41 00 E1 90 00"),
      .send("FF 00 00 00 04 D4 40 01 00", "D5 41 01 90 00"))
    #expect(try channel.exchange([0x01, 0x08, 0x00] + Self.uid) == [0x08, 0xE1])
    #expect(errorCode { try channel.exchange([0x00, 0x00, 0x00] + Self.uid) } == .noAnswer)
  }
}

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
      .send("FF 00 00 00 04 D4 42 C2 FF", "D5 43 00 0A 90 00"), .send("FF 00 00 00 05 D4 08 63 03 80", "D5 09 90 00"),
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
    .send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00"), .send("FF C2 00 02 04 8F 02 00 03", "C0 03 00 90 00 90 00"),
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

@Suite struct MIFAREClassicChannelTests {
  private static let block = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
  private static let directory: [UInt8] = [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]
  private static let ndef: [UInt8] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]
  private static let uid: [UInt8] = [1, 2, 3, 4]

  @Test func `a key is loaded once, and each sector is opened with it`() throws {
    var channel = cardChannel(
      .omnikey, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", "90 00"), .send("FF B0 00 01 10", "\(Self.block) 90 00"),
      .send("FF 82 00 01 06 D3 F7 D3 F7 D3 F7", "90 00"), .send("FF 86 00 00 05 01 00 04 60 01", "90 00"),
      .send("FF 86 00 00 05 01 00 08 60 01", "90 00"), .send("FF D6 00 08 10 \(Self.block)", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", "90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(try channel.exchange([0x30, 0x01]) == hex(Self.block))
    #expect(try channel.exchange([0x60, 0x04] + Self.ndef + Self.uid) == [])
    #expect(try channel.exchange([0x60, 0x08] + Self.ndef + Self.uid) == [])
    #expect(try channel.exchange([0xA0, 0x08] + hex(Self.block)) == [])
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(channel.remaining == 0)
  }

  @Test func `a third key takes the first place`() throws {
    var channel = cardChannel(
      .omnikey, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", "90 00"), .send("FF 82 00 01 06 D3 F7 D3 F7 D3 F7", "90 00"),
      .send("FF 86 00 00 05 01 00 04 60 01", "90 00"), .send("FF 82 00 00 06 FF FF FF FF FF FF", "90 00"),
      .send("FF 86 00 00 05 01 00 04 61 00", "69 83"))
    _ = try channel.exchange([0x60, 0x00] + Self.directory + Self.uid)
    _ = try channel.exchange([0x60, 0x04] + Self.ndef + Self.uid)
    let factory = [UInt8](repeating: 0xFF, count: 6)
    #expect(errorCode { try channel.exchange([0x61, 0x04] + factory + Self.uid) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test func `an OMNIKEY takes keys for its other memory`() throws {
    var channel = cardChannel(
      .omnikey, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "69 86"),
      .send("FF 82 20 00 06 A0 A1 A2 A3 A4 A5", "90 00"), .send("FF 86 00 00 05 01 00 00 60 00", "90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
  }

  @Test func `a reader that takes no key opens no sector`() {
    var channel = cardChannel(
      .omnikey, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "6D 00"),
      .send("FF 82 20 00 06 A0 A1 A2 A3 A4 A5", "6D 00"))
    #expect(errorCode { try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) } == .unsupported)
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["6D 00", "6A 81", "6B 00", "67 00"])
  func `a reader that does not know the authentication gets the older one`(_ status: String) throws {
    var channel = cardChannel(
      .generic, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", hex(status)), .send("FF 88 00 00 60 00", "90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(channel.remaining == 0)
  }

  @Test func `a wrong key is silence, and is not tried in another way`() {
    for status in ["63 00", "69 82", "69 83", "64 01"] {
      var channel = cardChannel(
        .generic, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
        .send("FF 86 00 00 05 01 00 00 60 00", hex(status)))
      #expect(errorCode { try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) } == .noAnswer)
      #expect(channel.remaining == 0)
    }
  }

  @Test func `a failed exchange is no wrong key`() {
    var channel = cardChannel(.generic, .classic, .fail("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", .exchange("it failed")))
    #expect(errorCode { try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) } == .transmission)
    channel = cardChannel(
      .generic, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .fail("FF 86 00 00 05 01 00 00 60 00", .removed))
    #expect(errorCode { try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) } == .transmission)
  }

  @Test func `an Identiv reader has a place for each slot`() throws {
    var channel = cardChannel(
      .uTrust3700, .classic, .send("FF 82 00 60 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 01", "90 00"), .send("FF 82 00 61 06 D3 F7 D3 F7 D3 F7", "90 00"),
      .send("FF 86 00 00 05 01 00 04 61 01", "90 00"), .send("FF 82 00 60 06 D3 F7 D3 F7 D3 F7", "90 00"),
      .send("FF 86 00 00 05 01 00 04 60 01", "90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(try channel.exchange([0x61, 0x04] + Self.ndef + Self.uid) == [])
    #expect(try channel.exchange([0x60, 0x04] + Self.ndef + Self.uid) == [])
  }

  @Test func `a SpringCard reader has places for keys A and for keys B`() throws {
    var channel = cardChannel(
      .springCardReader, .classic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", "90 00"), .send("FF 82 00 11 06 D3 F7 D3 F7 D3 F7", "90 00"),
      .send("FF 86 00 00 05 01 00 04 61 11", "90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(try channel.exchange([0x61, 0x04] + Self.ndef + Self.uid) == [])
  }

  @Test func `an ACR122U authenticates through its chip`() throws {
    var channel = cardChannel(
      .acr122, .classic, .send("FF 00 00 00 0F D4 40 01 60 00 A0 A1 A2 A3 A4 A5 01 02 03 04", "D5 41 00 90 00"),
      .send("FF 00 00 00 05 D4 40 01 30 01", "D5 41 00 \(Self.block) 90 00"),
      .send("FF 00 00 00 0F D4 40 01 60 04 D3 F7 D3 F7 D3 F7 01 02 03 04", "D5 41 14 90 00"))
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(try channel.exchange([0x30, 0x01]) == hex(Self.block))
    #expect(errorCode { try channel.exchange([0x60, 0x04] + Self.ndef + Self.uid) } == .noAnswer)
  }

  @Test func `a selection forgets the keys`() throws {
    var link = cardLink(
      .generic, .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"), .send("FF 86 00 00 05 01 00 00 60 00", "63 00"),
      .reset, .send("FF CA 00 00 00", "01 02 03 04 90 00"), .send("FF 82 00 00 06 A0 A1 A2 A3 A4 A5", "90 00"),
      .send("FF 86 00 00 05 01 00 00 60 00", "90 00"))
    link.identifier = Self.uid
    var channel = CardChannel(link, tag: .classic)
    #expect(errorCode { try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) } == .noAnswer)
    try channel.reselect()
    #expect(try channel.exchange([0x60, 0x00] + Self.directory + Self.uid) == [])
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["C0 04 01 00 00 00", "B0 04", "30", "A0 04 01", "50 00", "60 04"])
  func `other commands are not sent by a reader with keys`(_ command: String) {
    var channel = cardChannel(.generic, .classic)
    #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
  }

  @Test func `a short block is a failed transmission`() {
    var channel = cardChannel(.generic, .classic, .send("FF B0 00 01 10", "00 01 02 03 90 00"))
    #expect(throws: TagChannelError.self) { try channel.exchange([0x30, 0x01]) }
  }
}
