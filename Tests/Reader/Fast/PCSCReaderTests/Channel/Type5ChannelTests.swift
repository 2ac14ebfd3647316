import Tags
import Testing

@testable import PCSCReader

@Suite struct Type5ChannelTests {
  // MARK: Blocks

  @Test func `a reader of blocks returns whole blocks`() throws {
    var channel = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "E1 40 20 01 90 00"), .send("FF B0 00 01 00", "03 00 FE 00 90 00"),
      .send("FF B0 01 02 00", "01 02 03 04 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try channel.exchange([0x02, 0x20, 0x01]) == hex("00 03 00 FE 00"))
    #expect(try channel.exchange([0x02, 0x30, 0x02, 0x01]) == hex("00 01 02 03 04"))
    #expect(channel.remaining == 0)
  }

  @Test func `a reader of blocks takes requests with the tag's own address`() throws {
    var channel = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "E1 40 20 01 90 00"), .send("FF D6 00 01 04 01 02 03 04", "90 00"))
    let address = Array(channel.tag.identifier.reversed())
    #expect(try channel.exchange([0x22, 0x20] + address + [0x00]) == hex("00 E1 40 20 01"))
    #expect(channel.canSend([0x62, 0x21] + address + [0x01, 1, 2, 3, 4]))
    #expect(try channel.exchange([0x62, 0x21] + address + [0x01, 1, 2, 3, 4]) == hex("00"))
    var other = address
    other[0] ^= 1
    #expect(errorCode { try channel.exchange([0x22, 0x20] + other + [0x00]) } == .unsupported)
    #expect(channel.remaining == 0)
  }

  @Test(arguments: ["67 00", "6A 82", "63 00"])
  func `a reader that wants a length is asked for four bytes`(_ status: String) throws {
    var channel = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", status), .send("FF B0 00 00 04", "E1 40 20 01 90 00"),
      .send("FF B0 00 01 04", "03 00 FE 00 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try channel.exchange([0x02, 0x20, 0x01]) == hex("00 03 00 FE 00"))
    #expect(channel.remaining == 0)
  }

  @Test func `the reader's own length is that of a block`() throws {
    var channel = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "67 00"), .send("FF B0 00 00 04", "6C 08"),
      .send("FF B0 00 00 08", "E1 40 20 01 03 00 FE 00 90 00"),
      .send("FF B0 00 01 08", "01 02 03 04 05 06 07 08 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01 03 00 FE 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x01]) == hex("00 01 02 03 04 05 06 07 08"))
  }

  @Test func `blocks of eight bytes are told from two of four`() throws {
    var eight = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "E1 40 20 01 03 00 FE 00 90 00"), .send("FF B0 00 00 04", "6C 08"),
      .send("FF B0 00 01 00", "01 02 03 04 05 06 07 08 90 00"))
    #expect(try eight.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01 03 00 FE 00"))
    #expect(try eight.exchange([0x02, 0x20, 0x01]) == hex("00 01 02 03 04 05 06 07 08"))
    var four = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "E1 40 20 01 03 00 FE 00 90 00"),
      .send("FF B0 00 00 04", "E1 40 20 01 90 00"), .send("FF B0 00 01 04", "03 00 FE 00 90 00"),
      .send("FF B0 00 01 04", "03 00 FE 00 90 00"))
    #expect(try four.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try four.exchange([0x02, 0x20, 0x01]) == hex("00 03 00 FE 00"))
    var cutShort = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "E1 40 20 01 03 00 FE 00 90 00"),
      .send("FF B0 00 00 04", "E1 40 20 01 90 00"), .send("FF B0 00 01 04", "01 02 03 04 90 00"))
    #expect(try cutShort.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01 03 00 FE 00"))
  }

  /// The reader refuses to read a half block, or cuts the block off.
  @Test(arguments: [false, true]) func `two blocks of eight bytes are told from one of sixteen`(cutsOff: Bool) throws {
    let (first, second) = ("E1 40 20 01 03 00 FE 00", "11 12 13 14 15 16 17 18")
    var script: [ScriptedConnection.Step] = [.send("FF B0 00 00 00", "\(first) \(second) 90 00")]
    if cutsOff {
      script += [.send("FF B0 00 00 04", "E1 40 20 01 90 00"), .send("FF B0 00 01 04", "11 12 13 14 90 00")]
    } else {
      script.append(.send("FF B0 00 00 04", "6C 08"))
    }
    script += [
      .send("FF B0 00 00 08", "\(first) 90 00"), .send("FF B0 00 01 08", "\(second) 90 00"),
      .send("FF B0 00 01 08", "\(second) 90 00"),
    ]
    let link = CardLink(ScriptedConnection(script), model: .omnikey, takesExtendedAPDUs: false)
    var eight = CardChannel(link, tag: .type5)
    #expect(try eight.exchange([0x02, 0x20, 0x00]) == hex("00 \(first)"))
    #expect(try eight.exchange([0x02, 0x20, 0x01]) == hex("00 \(second)"))
    #expect(eight.remaining == 0)
  }

  @Test func `a block of sixteen bytes is one block`() throws {
    let (first, second) = ("E1 40 20 01 03 00 FE 00 01 02 03 04 05 06 07 08", "11 12 13 14 15 16 17 18")
    var channel = cardChannel(
      .omnikey, .type5, .send("FF B0 00 00 00", "\(first) 90 00"), .send("FF B0 00 00 04", "6C 10"),
      .send("FF B0 00 00 08", "6C 10"), .send("FF B0 00 01 00", "\(second) \(second) 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 \(first)"))
    #expect(try channel.exchange([0x02, 0x20, 0x01]) == hex("00 \(second) \(second)"))
    #expect(channel.remaining == 0)
  }

  @Test func `blocks are written and locked`() throws {
    var channel = cardChannel(
      .omnikey, .type5, .send("FF D6 00 01 04 01 02 03 04", "90 00"), .send("FF D6 01 02 04 01 02 03 04", "90 00"),
      .send("FF D6 00 01 04 01 02 03 04", "90 00"), .send("FF 30 00 02 05 01 00 00 00 01", "90 00"),
      .send("FF D6 00 01 04 01 02 03 04", "63 00"))
    #expect(try channel.exchange([0x02, 0x21, 0x01, 1, 2, 3, 4]) == [0x00])
    #expect(try channel.exchange([0x02, 0x31, 0x02, 0x01, 1, 2, 3, 4]) == [0x00])
    // A tag with the special frame format: the reader itself knows.
    #expect(try channel.exchange([0x42, 0x21, 0x01, 1, 2, 3, 4]) == [0x00])
    #expect(try channel.exchange([0x02, 0x22, 0x01]) == [0x00])
    #expect(errorCode { try channel.exchange([0x02, 0x21, 0x01, 1, 2, 3, 4]) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test func `a SpringCard reader has a command of its own to lock`() throws {
    var channel = cardChannel(.springCardReader, .type5, .send("FF F6 22 00 01 05", "90 00"))
    #expect(try channel.exchange([0x02, 0x22, 0x05]) == [0x00])
    #expect(!channel.canSend([0x02, 0x32, 0x05, 0x01]))
  }

  @Test(
    arguments: [
      "02 23 00 03", "02 2B", "02 2C 00 1F", "22 20 E0 04 01 00 00 00 00 01 00", "26 01 00", "02 20", "02",
    ])
  func `other requests are not sent by a reader of blocks`(_ request: String) {
    var channel = cardChannel(.omnikey, .type5)
    #expect(!channel.canSend(hex(request)))
    #expect(errorCode { try channel.exchange(hex(request)) } == .unsupported)
  }

  @Test func `a reader without ISO/IEC 15693 sends nothing`() {
    var channel = cardChannel(.acr1252, .type5)
    #expect(!channel.canSend([0x02, 0x20, 0x00]))
    #expect(errorCode { try channel.exchange([0x02, 0x20, 0x00]) } == .unsupported)
  }

  // MARK: Requests

  @Test func `an ACR1552U takes the standard requests without flags`() throws {
    var channel = cardChannel(
      .acr1552, .type5, .send("FF FB 00 00 02 20 00 00", "E1 40 20 01 90 00"),
      .send("FF FB 00 00 03 23 00 03 00", "01 02 03 04 05 06 07 08 90 00"),
      .send("FF FB 00 00 06 21 01 01 02 03 04", "90 00"), .send("FF FB 00 00 02 20 7F 00", "63 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try channel.exchange([0x02, 0x23, 0x00, 0x03]) == hex("00 01 02 03 04 05 06 07 08"))
    #expect(try channel.exchange([0x02, 0x21, 0x01, 1, 2, 3, 4]) == [0x00])
    // It was a refusal of the tag, so that the session is not tried.
    #expect(errorCode { try channel.exchange([0x02, 0x20, 0x7F]) } == .noAnswer)
    #expect(channel.remaining == 0)
  }

  @Test func `an ACR1552U that does not know the requests sends them in a session`() throws {
    var channel = cardChannel(
      .acr1552, .type5, .send("FF FB 00 00 02 20 00 00", "6A 81"),
      .send("FF C2 00 00 02 81 00", "C0 03 00 90 00 90 00"),
      .send("FF C2 00 02 04 8F 02 02 03", "C0 03 00 90 00 90 00"),
      .send(
        "FF C2 00 01 10 90 02 00 10 5F 46 04 A0 86 01 00 95 03 02 20 00 00",
        "C0 03 00 90 00 92 01 00 96 02 00 00 97 05 00 E1 40 20 01 90 00"),
      .send("FF C2 00 01 10 90 02 00 10 5F 46 04 A0 86 01 00 95 03 02 20 7F 00", "97 02 01 0F 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try channel.exchange([0x02, 0x20, 0x7F]) == hex("01 0F"))
    #expect(channel.remaining == 0)
  }

  @Test func `a request that the ACR1552U does not know goes through a session`() throws {
    var channel = cardChannel(
      .acr1552, .type5, .send("FF C2 00 00 02 81 00", "90 00"), .send("FF C2 00 02 04 8F 02 02 03", "90 00"),
      .send("FF C2 00 01 11 90 02 00 10 5F 46 04 A0 86 01 00 95 04 02 30 00 01 00", "97 05 00 01 02 03 04 90 00"))
    #expect(try channel.exchange([0x02, 0x30, 0x00, 0x01]) == hex("00 01 02 03 04"))
  }

  @Test func `a long answer is not asked for`() {
    let channel = cardChannel(.acr1552, .type5)
    #expect(channel.canSend([0x02, 0x23, 0x00, 0x1F]))
    #expect(!channel.canSend([0x02, 0x23, 0x00, 0x20]))
    #expect(!channel.canSend([0x02, 0x33, 0x00, 0x01, 0x20, 0x00]))
    #expect(!channel.canSend([0x02, 0x33, 0x00, 0x01, 0x00, 0x01]))
    #expect(channel.canSend([0x02, 0x33, 0x00, 0x01, 0x1F, 0x00]))
  }

  @Test func `a uTrust 3720 F has commands for standard and other requests`() throws {
    var channel = cardChannel(
      .uTrust3720, .type5, .send("FF FC 00 00 02 20 00 00", "E1 40 20 01 90 00"),
      .send("FF FC 00 00 06 21 01 01 02 03 04", "90 00"),
      .send("FF FD 06 01 04 02 30 00 01 00", "00 01 02 03 04 90 00"))
    #expect(try channel.exchange([0x02, 0x20, 0x00]) == hex("00 E1 40 20 01"))
    #expect(try channel.exchange([0x02, 0x21, 0x01, 1, 2, 3, 4]) == [0x00])
    #expect(try channel.exchange([0x02, 0x30, 0x00, 0x01]) == hex("00 01 02 03 04"))
  }
}
