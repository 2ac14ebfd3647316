import ReaderSimulator
import TestKit
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
}
