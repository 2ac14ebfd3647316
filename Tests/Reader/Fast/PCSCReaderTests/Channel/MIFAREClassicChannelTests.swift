import ReaderModels
import Tags
import Testing

@testable import PCSCReader

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
