import Tags
import Testing

@testable import PCSCReader
@testable import ReaderModels

@Suite struct Type4ChannelTests {
  private static let select = "00 A4 04 00 07 D2 76 00 00 85 01 01 00"

  @Test(arguments: ["90 00", "6A 82", "01 02 90 00", "91 AF", "6D 00", "63 00"])
  func `an APDU and its answer pass as they are`(_ answer: String) throws {
    var channel = cardChannel(.generic, .type4, .send(Self.select, answer))
    #expect(try channel.exchange(hex(Self.select)) == hex(answer))
  }

  @Test(arguments: ["", "90"])
  func `an answer without a status word is a failed transmission`(_ answer: String) {
    var channel = cardChannel(.generic, .type4, .send(Self.select, answer))
    #expect(throws: TagChannelError.self) { try channel.exchange(hex(Self.select)) }
  }

  /// The word of ACS's readers for every failure.
  @Test(arguments: [select, "00 A4 00 0C 02 E1 03", "00 B0 00 00 0F", "00 D6 00 00 02 00 00", "01 B1 00 00 00"])
  func `63 00 to a command for files is a failed exchange if the reader has no other word`(_ command: String) throws {
    for model in [ReaderModel.acr122, .acr1252, .acr1552] {
      var channel = cardChannel(model, .type4, .send(command, "63 00"))
      #expect(errorCode { try channel.exchange(hex(command)) } == .noAnswer)
      #expect(channel.failure == nil)
    }
    var other = cardChannel(.omnikey, .type4, .send(command, "63 00"))
    #expect(try other.exchange(hex(command)) == hex("63 00"))
  }

  @Test(arguments: ["00 20 00 01 04 31 32 33 34", "00 CA 01 01 00", "90 A4 00 00 00", "80 B0 00 00 00"])
  func `63 00 to another command may be the card's`(_ command: String) throws {
    var channel = cardChannel(.acr1252, .type4, .send(command, "63 00"))
    #expect(try channel.exchange(hex(command)) == hex("63 00"))
  }

  @Test(arguments: ["6A 82", "63 C1", "01 02 63 00"])
  func `another answer of a reader with one word for failures passes`(_ answer: String) throws {
    var channel = cardChannel(.acr1252, .type4, .send(Self.select, answer))
    #expect(try channel.exchange(hex(Self.select)) == hex(answer))
  }

  // MARK: Class FF

  @Test(
    arguments: [
      "FF CA 00 00 00", "FF D6 00 04 04 01 02 03 04", "FF 82 00 00 06 FF FF FF FF FF FF", "FF 00 40 AE 04 01 00 01 01",
      "FF", "FF 00", "FF C2 00 00 02 81 00",
    ])
  func `a command for the reader does not leave`(_ command: String) {
    for tag in [TagActivation.type4, .type4B] {
      var channel = cardChannel(.generic, tag, extended: true)
      #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
      #expect(!channel.canSend(hex(command)))
    }
  }

  @Test(arguments: [TagActivation.type1, .type2, .type3, .type5, .classic])
  func `no tag of another type is a way to send a command to the reader`(_ tag: TagActivation) {
    for model in [ReaderModel.generic, .omnikey, .r502] {
      for command in ["FF CA 00 00 00", "FF D6 00 04 04 01 02 03 04"] where model.feliCa.isEmpty || tag != .type3 {
        var channel = cardChannel(model, tag)
        #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
      }
    }
  }

  // MARK: Lengths

  @Test func `a short APDU passes, and an extended one where the reader takes it`() throws {
    let longest = hex("00 D6 00 00 FF") + [UInt8](repeating: 1, count: 255) + [0x00]
    let extended = hex("00 D6 00 00 00 01 00") + [UInt8](repeating: 1, count: 256)
    var short = CardChannel(
      CardLink(ScriptedConnection([.command(longest, .success([0x90, 0x00]))]), model: .generic), tag: .type4)
    #expect(try short.exchange(longest) == [0x90, 0x00])
    #expect(errorCode { try short.exchange(extended) } == .unsupported)
    #expect(errorCode { try short.exchange(hex("00 B0 00 00 00 01 00")) } == .unsupported)
    var long = CardChannel(
      CardLink(
        ScriptedConnection([.command(extended, .success([0x90, 0x00]))]), model: .generic, takesExtendedAPDUs: true),
      tag: .type4)
    #expect(try long.exchange(extended) == [0x90, 0x00])
    let tooLong = hex("00 D6 00 00 00 FF FF") + [UInt8](repeating: 1, count: 65_538)
    #expect(errorCode { try long.exchange(tooLong) } == .unsupported)
  }

  @Test(arguments: ["", "00", "00 A4", "00 A4 04"])
  func `a command without a header is not sent`(_ command: String) {
    var channel = cardChannel(.generic, .type4)
    #expect(errorCode { try channel.exchange(hex(command)) } == .unsupported)
  }

  // MARK: Answers in parts

  @Test func `the parts of an answer are fetched`() throws {
    var channel = cardChannel(
      .generic, .type4, .send(Self.select, "01 61 02"), .send("00 C0 00 00 02", "02 03 61 00"),
      .send("00 C0 00 00 00", "04 90 00"))
    #expect(try channel.exchange(hex(Self.select)) == hex("01 02 03 04 90 00"))
    #expect(channel.remaining == 0)
  }

  @Test(arguments: [("00", "00"), ("03", "03"), ("0C", "00"), ("11", "01"), ("45", "45"), ("80", "00"), ("90", "00")])
  func `the class of the command decides about that of the request for more`(_ byte: String, _ request: String) throws {
    var channel = cardChannel(
      .generic, .type4, .send("\(byte) CB 00 00", "61 01"), .send("\(request) C0 00 00 01", "05 90 00"))
    #expect(try channel.exchange(hex("\(byte) CB 00 00")) == hex("05 90 00"))
  }

  @Test func `a card without GET RESPONSE has said all`() throws {
    var channel = cardChannel(
      .generic, .type4, .send(Self.select, "01 02 61 10"), .send("00 C0 00 00 10", "6D 00"))
    #expect(try channel.exchange(hex(Self.select)) == hex("01 02 61 10"))
  }

  @Test func `a card that always announces more comes to an end`() throws {
    var connection = EndlessConnection(answer: [0xAA, 0x61, 0x00])
    connection.mostCommands = 65
    var channel = CardChannel(CardLink(connection, model: .generic), tag: .type4)
    #expect(try channel.exchange(hex(Self.select)).count == 65 + 2)
    connection = EndlessConnection(answer: [0x61, 0x00])
    connection.mostCommands = 2
    channel = CardChannel(CardLink(connection, model: .generic), tag: .type4)
    #expect(try channel.exchange(hex(Self.select)) == [0x61, 0x00])
    connection = EndlessConnection(answer: [UInt8](repeating: 0, count: 40_000) + [0x61, 0x00])
    connection.mostCommands = 2
    channel = CardChannel(CardLink(connection, model: .generic), tag: .type4)
    #expect(try channel.exchange(hex(Self.select)).count == 40_002)
  }

  @Test(
    arguments: [
      ("00 B0 00 00", "00 B0 00 00 05"), ("00 B0 00 00 10", "00 B0 00 00 05"),
      ("00 A4 00 0C 02 E1 03", "00 A4 00 0C 02 E1 03 05"), ("00 A4 00 0C 02 E1 03 10", "00 A4 00 0C 02 E1 03 05"),
    ])
  func `a wrong length is corrected once`(_ command: String, _ corrected: String) throws {
    var channel = cardChannel(.generic, .type4, .send(command, "6C 05"), .send(corrected, "6C 06"))
    #expect(try channel.exchange(hex(command)) == hex("6C 06"))
    #expect(channel.remaining == 0)
  }
}

/// Gives the same answer to every command.
struct EndlessConnection: CardConnection {
  let answer: [UInt8]
  var mostCommands = Int.max

  init(answer: [UInt8]) { self.answer = answer }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    mostCommands -= 1
    guard mostCommands >= 0 else {
      Issue.record("one command too many: \(command)")
      throw .exchange("too many")
    }
    return answer
  }

  mutating func reset() throws(CardFailure) {}
}

extension TagActivation {
  static let type4B = TagActivation.typeB(
    TypeBActivation(
      pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81], attribResponse: []))
}
