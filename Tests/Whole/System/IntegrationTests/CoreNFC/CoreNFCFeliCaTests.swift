import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC

/// Every call to a FeliCa card with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct CoreNFCFeliCaTests {
  private static let idm: [UInt8] = [0x01, 0x2E, 3, 4, 5, 6, 7, 8]
  private static let pmm = Data([0x03, 0x0D, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00])
  private static let transit = Data([0x00, 0x03])
  private static let ndef = Data([0x12, 0xFC])
  /// The service of the history, with its low byte first as in every list of services.
  private static let history = Data([0x0F, 0x09])

  /// A command or an answer with the card's IDm.
  private static func packet(_ code: UInt8, _ parameters: [UInt8] = []) -> Data { Data([code] + idm + parameters) }

  /// A block list of two bytes for each element.
  private static func blocks(_ numbers: Range<UInt8>) -> [Data] { numbers.map { Data([0x80, $0]) } }

  @Test func `every command reaches a transit card`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(
      to: .transitCard(idm: Self.idm), .init(pollingOption: .iso18092, feliCaSystemCodes: ["0003"]))
    let card = try #require(connected.tag.asFeliCa)
    let before = try await place.memory(of: connected.placement)
    #expect(card.currentSystemCode == Self.transit && card.currentIDm == Data(Self.idm))
    #expect(card.type == .feliCa && card.asNFCFeliCaTag() != nil && card.asNFCMiFareTag() == nil)

    let codes = try await card.polling(systemCode: Self.transit, requestCode: .systemCode, timeSlot: .max1)
    #expect(codes.0 == Self.pmm && codes.1 == Self.transit)
    let speeds = try await card.polling(
      systemCode: Self.transit, requestCode: .communicationPerformance, timeSlot: .max16)
    #expect(speeds.0 == Self.pmm && speeds.1 == Data([0x00, 0x83]))
    let plain = try await card.polling(systemCode: Self.transit, requestCode: .noRequest, timeSlot: .max4)
    #expect(plain.0 == Self.pmm && plain.1.isEmpty)
    #expect(card.currentSystemCode == Self.transit && card.currentIDm == Data(Self.idm))

    let versions = try await card.requestService(nodeCodeList: [Self.history, Data([0x01, 0x02])])
    #expect(versions == [Data([0x00, 0x00]), Data([0xFF, 0xFF])])
    #expect(try await card.requestResponse() == 0)
    #expect(try await card.requestSystemCode() == [Self.transit, Data([0xFE, 0x00])])
    let byCipher = try await card.requestServiceV2(nodeCodeList: [Self.history])
    #expect([byCipher.0, byCipher.1] == [0, 0] && byCipher.2 == .AES_DES)
    #expect(byCipher.3 == [Data([0x00, 0x00])] && byCipher.4 == [Data([0x00, 0x00])])
    let specification = try await card.requestSpecificationVersion()
    #expect(specification.0 == 0 && specification.1 == 0)
    #expect(specification.2 == Data([0x21, 0x01]) && specification.3.isEmpty)
    let reset = try await card.resetMode()
    #expect(reset.0 == 0 && reset.1 == 0)
    let response = try await card.sendFeliCaCommand(commandPacket: Self.packet(0x04))
    #expect(response == Self.packet(0x05, [0x00]))

    let expected = SimulatedTag.transitHistory().map { Data($0) }
    let read = try await card.readWithoutEncryption(serviceCodeList: [Self.history], blockList: Self.blocks(0..<12))
    #expect([read.0, read.1] == [0, 0] && read.2 == Array(expected[..<12]))
    // An element of three bytes.
    let far = try await card.readWithoutEncryption(
      serviceCodeList: [Self.history], blockList: [Data([0x00, 0x13, 0x00])])
    #expect(far.0 == 0 && far.1 == 0 && far.2 == [expected[19]])
    // Status flags are results: too many blocks, and a service that only reads.
    let many = try await card.readWithoutEncryption(serviceCodeList: [Self.history], blockList: Self.blocks(0..<13))
    #expect([many.0, many.1] == [0xFF, 0xA2] && many.2.isEmpty)
    let written = try await card.writeWithoutEncryption(
      serviceCodeList: [Self.history], blockList: Self.blocks(0..<1), blockData: [Data(count: 16)])
    #expect(written.0 == 0x01 && written.1 == 0xA6)
    #expect(try await place.memory(of: connected.placement) == before)
    try await place.finish(connected)
    try await place.scansAgain()
    await place.stop()
  }

  /// The card is there, and has no such system. So the code is 102 and not 100.
  @Test func `after Polling without an answer no system is selected`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(
      to: .transitCard(idm: Self.idm), .init(pollingOption: .iso18092, feliCaSystemCodes: ["0003", "12FC"]))
    let card = try #require(connected.tag.asFeliCa)
    let error = await errorCode {
      _ = try await card.polling(systemCode: Self.ndef, requestCode: .noRequest, timeSlot: .max1)
    }
    #expect(error == 102)
    #expect(card.isAvailable && card.currentIDm.isEmpty && card.currentSystemCode == Self.transit)
    #expect(await errorCode { _ = try await card.requestResponse() } == 102)
    _ = try await card.polling(systemCode: Self.transit, requestCode: .noRequest, timeSlot: .max1)
    #expect(card.currentIDm == Data(Self.idm))
    #expect(try await card.requestResponse() == 0)
    try await place.finish(connected)
    await place.stop()
  }
}
