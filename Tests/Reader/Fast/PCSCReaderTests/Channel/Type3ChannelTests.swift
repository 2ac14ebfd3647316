import ReaderModels
import Tags
import Testing

@testable import PCSCReader

@Suite struct Type3ChannelTests {
  private static let idm = "01 02 03 04 05 06 07 08"
  private static let block = "10 04 01 00 0D 00 00 00 00 00 01 00 00 00 00 23"
  private static let check = hex("06 \(idm) 01 0B 00 01 80 00")
  private static let checked = hex("07 \(idm) 00 00 01 \(block)")
  private static let update = hex("08 \(idm) 01 09 00 01 80 02 \(block)")
  private static let updated = hex("09 \(idm) 00 00")

  // MARK: Frames

  @Test func `an ACR1252U takes frames with their length`() throws {
    var channel = cardChannel(
      .acr1252, .type3, .send("FF 00 00 00 10 10 06 \(Self.idm) 01 0B 00 01 80 00", "1D \(text(Self.checked)) 90 00"),
      .send("FF 00 00 00 20 20 \(text(Self.update))", "0C \(text(Self.updated)) 90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(try channel.exchange(Self.update) == Self.updated)
    #expect(channel.remaining == 0)
  }

  @Test func `an answer without its length is taken, and one with a wrong length is not`() throws {
    var channel = cardChannel(
      .acr1252, .type3, .send("FF 00 00 00 10 10 \(text(Self.check))", Self.checked + [0x90, 0x00]),
      .send("FF 00 00 00 10 10 \(text(Self.check))", "1C \(text(Self.checked)) 90 00"),
      .send("FF 00 00 00 10 10 \(text(Self.check))", "90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(throws: TagChannelError.self) { try channel.exchange(Self.check) }
    #expect(throws: TagChannelError.self) { try channel.exchange(Self.check) }
  }

  @Test func `an ACR122U passes frames to its chip`() throws {
    var channel = cardChannel(
      .acr122, .type3,
      .send("FF 00 00 00 13 D4 40 01 10 \(text(Self.check))", "D5 41 00 1D \(text(Self.checked)) 90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
  }

  @Test func `an unknown reader is tried with a session`() throws {
    var channel = cardChannel(
      .generic, .type3, .send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00"),
      .send("FF C2 00 02 04 8F 02 03 00", "C0 03 00 90 00 90 00"),
      .send(
        "FF C2 00 01 1D 90 02 00 1C 5F 46 04 40 0D 03 00 95 10 10 \(text(Self.check)) 00",
        "C0 03 00 90 00 92 01 00 96 02 00 00 97 1D 1D \(text(Self.checked)) 90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(channel.remaining == 0)
  }

  @Test func `the way that worked first is kept`() throws {
    var channel = cardChannel(
      .acr1552, .type3, .send("FF 00 00 00 10 10 \(text(Self.check))", "63 00"),
      .send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00"),
      .send("FF C2 00 02 04 8F 02 03 00", "C0 03 00 90 00 90 00"),
      .send(
        "FF C2 00 01 1D 90 02 00 1C 5F 46 04 40 0D 03 00 95 10 10 \(text(Self.check)) 00",
        "97 1D 1D \(text(Self.checked)) 90 00"),
      .send(
        "FF C2 00 01 1D 90 02 00 1C 5F 46 04 40 0D 03 00 95 10 10 \(text(Self.check)) 00", "C0 03 01 64 01 90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(errorCode { try channel.exchange(Self.check) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test func `no other way is tried after a removal`() {
    var channel = cardChannel(.acr1552, .type3, .fail("FF 00 00 00 10 10 \(text(Self.check))", .removed))
    #expect(throws: TagChannelError(.noAnswer, "the tag was removed")) { try channel.exchange(Self.check) }
    #expect(channel.remaining == 0)
  }

  // MARK: Instructions

  @Test func `an Identiv reader has instructions for Check and Update`() throws {
    var channel = cardChannel(
      .uTrust3700, .type3, .send("FF 46 01 01 04 0B 00 80 00", Self.checked + [0x90, 0x00]),
      .send("FF 48 01 01 14 09 00 80 02 \(Self.block)", Self.updated + [0x90, 0x00]),
      .send("FF 46 01 01 04 0B 00 80 00", "64 01"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(try channel.exchange(Self.update) == Self.updated)
    #expect(errorCode { try channel.exchange(Self.check) } == .noAnswer)
  }

  @Test(
    arguments: [
      "04 01 02 03 04 05 06 07 08", "06 01 02", "06 01 02 03 04 05 06 07 08 01 0B 00 01 00 00 01",
      "06 01 02 03 04 05 06 07 08 01 0B 00 00",
    ])
  func `an Identiv reader has no instruction for other commands`(_ command: String) {
    var channel = cardChannel(.uTrust3700, .type3)
    #expect(!channel.canSend(hex(command)))
    #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
  }

  @Test func `a reader that cannot poll answers for the systems that it has found`() throws {
    var link = cardLink(.uTrust3700)
    link.identifier = hex(Self.idm)
    #expect(try link.exchangeType3([0x00, 0xFF, 0xFF, 0x00, 0x00]) == hex("01 \(Self.idm) FF FF FF FF FF FF FF FF"))
    #expect(errorCode { try link.exchangeType3([0x00, 0x12, 0xFC, 0x00, 0x00]) } == .noAnswer)
    link.hasNDEFSystem = true
    #expect(try link.exchangeType3([0x00, 0x12, 0xFC, 0x00, 0x00]).count == 17)
    #expect(errorCode { try link.exchangeType3([0x00, 0x88, 0xB4, 0x00, 0x00]) } == .noAnswer)
  }

  @Test func `a SpringCard reader selects a service, and reads and writes its blocks`() throws {
    var channel = cardChannel(
      .springCardReader, .type3, .send("FF FB FC 01 02 00 0B", "90 00"),
      .send("FF B0 00 00 10", "\(Self.block) 90 00"), .send("FF B0 00 00 10", "\(Self.block) 90 00"),
      .send("FF FB FC 01 02 00 09", "90 00"), .send("FF D6 00 02 10 \(Self.block)", "90 00"))
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(try channel.exchange(Self.check) == Self.checked)
    #expect(try channel.exchange(Self.update) == Self.updated)
    #expect(channel.remaining == 0)
  }

  @Test func `a reader without FeliCa sends nothing`() {
    var channel = cardChannel(.omnikey, .type3)
    #expect(errorCode { try channel.exchange(Self.check) } == .unsupported)
  }

  private func text(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
  }
}
