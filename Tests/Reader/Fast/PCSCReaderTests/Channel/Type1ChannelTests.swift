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
