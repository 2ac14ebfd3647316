import ReaderSimulator
import TestRig
import Testing

@testable import CoreNFC

/// MIFARE Ultralight, DESFire and Plus with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct CoreNFCMiFareTests {
  private static let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso14443)
  private static let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]

  @Test func `an Ultralight gets the commands of its data sheet`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(
      to: .type2(.ultralightEV1, message: [], uid: .fixed(Self.uid)), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    var expected = try await place.memory(of: connected.placement)
    #expect(tag.mifareFamily == .ultralight && tag.identifier == Data(Self.uid) && tag.historicalBytes == nil)
    #expect(tag.type == .miFare && tag.asNFCMiFareTag() != nil && tag.asNFCISO7816Tag() == nil)

    let version = Data([0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0B, 0x03])
    #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x60])) == version)
    #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0x00])) == Data(expected[..<16]))
    // WRITE is acknowledged with four bits.
    let write = Data([0xA2, 0x06, 0xCA, 0xFE, 0x01, 0x23])
    #expect(try await tag.sendMiFareCommand(commandPacket: write) == Data([0x0A]))
    expected.replaceSubrange(24..<28, with: [0xCA, 0xFE, 0x01, 0x23])
    #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x3A, 0x04, 0x07])) == Data(expected[16..<32]))
    #expect(try await place.memory(of: connected.placement) == expected)

    // The other forms.
    let answers = Answers()
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0x06])) { data, error in
      answers.handler("\(data.prefix(4) == Data([0xCA, 0xFE, 0x01, 0x23]))")(error)
    }
    tag.sendMiFareCommand(commandPacket: Data([0x60])) { (result: Result<Data, any Error>) in
      answers.handler("\((try? result.get()) == version)")(nil)
    }
    #expect(try await place.next(answers) == "true 0")
    #expect(try await place.next(answers) == "true 0")
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty)
    try await place.scansAgain()
    await place.stop()
  }

  /// The tag refuses the command with four bits and is still there, so the code is 102 and not 100.
  @Test func `a refused command is an error of the tag, which stays connected`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(to: .type2(.ntag213, message: Tag(1).message), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    // READ of a page that does not exist.
    let answers = Answers()
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0xF0])) { _, error in answers.handler("read")(error) }
    #expect(try await place.next(answers) == "read 102")
    #expect(tag.isAvailable && connected.session.connectedTag != nil)
    #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x60])).count == 8)
    // A command that is longer than the reader can send.
    let long = Data(repeating: 0x30, count: 300)
    #expect(await errorCode { _ = try await tag.sendMiFareCommand(commandPacket: long) } == 105)
    #expect(await errorCode { _ = try await tag.sendMiFareCommand(commandPacket: Data()) } == 3)
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty)
    await place.stop()
  }

  @Test func `a DESFire gets native, wrapped and ISO commands`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(
      to: .desfire(message: Tag(1).message, uid: .fixed(Self.uid)), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    #expect(tag.mifareFamily == .desfire && tag.identifier == Data(Self.uid) && tag.historicalBytes == Data([0x80]))

    // GetVersion has three parts. The program asks for the second and the third.
    let hardware = Data([0x04, 0x01, 0x01, 0x01, 0x00, 0x18, 0x05])
    let first = try await tag.sendMiFareCommand(commandPacket: Data([0x60]))
    #expect(first.first == 0xAF && first.dropFirst() == hardware)
    #expect(try await tag.sendMiFareCommand(commandPacket: Data([0xAF])).first == 0xAF)
    let last = try await tag.sendMiFareCommand(commandPacket: Data([0xAF]))
    #expect(last.first == 0x00 && last.dropFirst().prefix(7) == Data(Self.uid))
    let wrapped = try #require(NFCISO7816APDU(data: Data([0x90, 0x60, 0x00, 0x00, 0x00])))
    let (version, sw1, sw2) = try await tag.sendMiFareISO7816Command(wrapped)
    #expect(version == hardware && sw1 == 0x91 && sw2 == 0xAF)

    let name = Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])
    let select = NFCISO7816APDU(
      instructionClass: 0x00, instructionCode: 0xA4, p1Parameter: 0x04, p2Parameter: 0x00, data: name,
      expectedResponseLength: 256)
    let answers = Answers()
    tag.sendMiFareISO7816Command(select) { _, sw1, sw2, error in answers.handler("\(sw1) \(sw2)")(error) }
    #expect(try await place.next(answers) == "144 0 0")
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty)
    await place.stop()
  }

  @Test func `a Plus is known by its historical bytes`() async throws {
    let place = try await CoreNFCDesktop()
    var options = Type4Options()
    // NXP AN10833.
    let historical: [UInt8] = [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]
    options.ats = [0x0C, 0x75, 0x77, 0x80, 0x02] + historical
    let connected = try await place.connect(
      to: .type4(message: Tag(1).message, options: options), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    #expect(tag.mifareFamily == .plus && tag.historicalBytes == Data(historical))
    try await place.finish(connected)
    await place.stop()
  }
}
