import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// ISO 7816 cards with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCCardTests {
  /// The second of the declared applications is the card's.
  static let configuration = NFCTagReaderSession.Configuration(
    pollingOption: .iso14443, iso7816SelectIdentifiers: ["F0010203FF", "A0000002471001"])
  private static let application: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
  /// An undeclared application, the directory of payment applications, and Visa.
  private static let others: [[UInt8]] = [
    [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x02], Array("2PAY.SYS.DDF01".utf8), [0xA0, 0x00, 0x00, 0x00, 0x03],
  ]
  private static let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
  private static let short: [UInt8] = Array(1...25)
  private static let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }

  /// A card with two files, and historical bytes of no MIFARE product.
  static func card(masterFiles: [UInt16: [UInt8]] = [:]) throws -> SimulatedTag {
    var options = Type4Options()
    options.ats = [0x08, 0x75, 0x77, 0x81, 0x02] + Array("ABC".utf8)
    return try .fileCard(
      application, files: [0x011E: short, 0x0101: long], masterFiles: masterFiles, uid: .fixed(uid), options: options)
  }

  /// SELECT of the short file.
  static var selectFile: NFCISO7816APDU { apdu(0xA4, 0x02, 0x0C, [0x01, 0x1E]) }
  /// READ BINARY of the whole file that is selected.
  static var readFile: NFCISO7816APDU { apdu(0xB0, 0x00, 0x00, le: 256) }

  private static func apdu(
    _ instruction: UInt8, _ p1: UInt8, _ p2: UInt8, _ data: [UInt8] = [], le: Int = -1
  ) -> NFCISO7816APDU {
    NFCISO7816APDU(
      instructionClass: 0x00, instructionCode: instruction, p1Parameter: p1, p2Parameter: p2, data: Data(data),
      expectedResponseLength: le)
  }

  private static func select(_ name: [UInt8]) -> NFCISO7816APDU { apdu(0xA4, 0x04, 0x00, name, le: 256) }

  /// Sends an APDU. Returns the data and the two status bytes together.
  private func answer(_ apdu: NFCISO7816APDU, of card: any NFCISO7816Tag) async throws -> [UInt8] {
    let (data, sw1, sw2) = try await card.sendCommand(apdu: apdu)
    return Array(data) + [sw1, sw2]
  }

  /// A passport wants PACE before its application is selected, and says in EF.CardAccess which one.
  @Test(arguments: [NFCTagReaderSession.PollingOption.pace, .iso14443])
  func `the file of a passport that describes PACE is read`(option: NFCTagReaderSession.PollingOption) async throws {
    let place = try await CoreNFCDesktop(starter: "`the file of a passport that describes PACE`_\(option.rawValue)")
    let passport = try Self.card(masterFiles: [0x011C: Self.short, 0x0102: Self.long])
    let connected = try await place.connect(
      to: passport, .init(pollingOption: option, iso7816SelectIdentifiers: ["A0000002471001"]))
    let card = try #require(connected.tag.asISO7816)
    #expect(try await answer(Self.apdu(0xA4, 0x00, 0x0C, [0x3F, 0x00]), of: card) == [0x90, 0x00])
    #expect(try await answer(Self.apdu(0xA4, 0x02, 0x0C, [0x01, 0x1C]), of: card) == [0x90, 0x00])
    #expect(try await answer(Self.readFile, of: card) == Self.short + [0x90, 0x00])
    // Nothing else is read there.
    #expect(await code { _ = try await answer(Self.apdu(0xA4, 0x02, 0x0C, [0x01, 0x02]), of: card) } == 2)
    try await place.finish(connected)
  }

  @Test func `a card with a declared application is read`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(to: Self.card(), Self.configuration)
    let card = try #require(connected.tag.asISO7816)
    #expect(card.initialSelectedAID == "A0000002471001")
    #expect(card.identifier == Data(Self.uid))
    #expect(card.historicalBytes == Data("ABC".utf8))
    #expect(card.applicationData == nil && !card.proprietaryApplicationDataCoding && !card.supportsPACE)
    #expect(card.type == .iso7816Compatible && card.asNFCISO7816Tag() != nil && card.asNFCMiFareTag() == nil)

    // All status bytes are results.
    #expect(try await answer(Self.readFile, of: card) == [0x69, 0x86])
    #expect(try await answer(Self.apdu(0xA4, 0x02, 0x0C, [0x01, 0x02]), of: card) == [0x6A, 0x82])
    #expect(try await answer(Self.selectFile, of: card) == [0x90, 0x00])
    #expect(try await answer(Self.readFile, of: card) == Self.short + [0x90, 0x00])
    #expect(try await answer(Self.apdu(0xB0, 0x00, 0x03, le: 5), of: card) == Array(Self.short[3..<8]) + [0x90, 0x00])

    // An extended APDU, and the other forms.
    let answers = Answers()
    card.sendCommand(apdu: Self.apdu(0xA4, 0x02, 0x0C, [0x01, 0x01])) { data, sw1, sw2, error in
      answers.handler("\(data.count) \(sw1) \(sw2)")(error)
    }
    let long = Data(Self.long)
    let readAll = Self.apdu(0xB0, 0x00, 0x00, le: 65_536)
    card.sendCommand(apdu: readAll) { (result: Result<NFCISO7816ResponseAPDU, any Error>) in
      let answer = try? result.get()
      answers.handler("\(answer?.payload == long) \(answer?.statusWord1 ?? 0)")(nil)
    }
    #expect(try await place.next(answers) == "0 144 0 0")
    #expect(try await place.next(answers) == "true 144 0")
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty)
    try await place.scansAgain()
  }

  @Test func `only declared applications are selected`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(to: Self.card(), Self.configuration)
    let card = try #require(connected.tag.asISO7816)
    let before = try await place.memory(of: connected.placement)
    for name in Self.others {
      #expect(await code { _ = try await card.sendCommand(apdu: Self.select(name)) } == 2, "\(name)")
    }
    // The card did not get these commands, and its application is still selected.
    #expect(try await answer(Self.selectFile, of: card) == [0x90, 0x00])
    #expect(try await answer(Self.select(Self.application), of: card) == [0x90, 0x00])
    // The other declared application is not on the card.
    #expect(try await answer(Self.select([0xF0, 0x01, 0x02, 0x03, 0xFF]), of: card) == [0x6A, 0x82])
    // A card without NDEF: a status, and errors of other calls.
    let (status, capacity) = try await card.queryNDEFStatus()
    #expect(status == .notSupported && capacity == 0)
    #expect(await code { _ = try await card.readNDEF() } == 1)
    // The application is selected again for the next command.
    #expect(try await answer(Self.selectFile, of: card) == [0x90, 0x00])
    #expect(try await place.memory(of: connected.placement) == before)
    try await place.finish(connected)
  }

  @Test func `a card of Type B and a DESFire with a declared application are ISO 7816 cards`() async throws {
    let place = try await CoreNFCDesktop()
    let ndef = "D2760000850101"
    let first = try await place.connect(
      to: .type4B(message: Tag(1).message), .init(pollingOption: .iso14443, iso7816SelectIdentifiers: [ndef]))
    let card = try #require(first.tag.asISO7816)
    #expect(card.initialSelectedAID == ndef)
    #expect(card.identifier.count == 4 && card.historicalBytes == nil)
    #expect(card.applicationData == Data(count: 4) && card.proprietaryApplicationDataCoding)
    #expect(try await card.readNDEF().link == "https://" + Tag.text(1))
    try await place.finish(first)
    await place.reader.removeAll()

    let second = try await place.connect(
      to: .desfire(message: Tag(2).message),
      .init(pollingOption: .iso14443, iso7816SelectIdentifiers: ["A0000002471001", ndef]))
    let desfire = try #require(second.tag.asISO7816)
    #expect(desfire.initialSelectedAID == ndef && desfire.historicalBytes == Data([0x80]))
    #expect(try await desfire.readNDEF().link == "https://" + Tag.text(2))
    try await place.finish(second)
  }
}

/// MIFARE Ultralight, DESFire and Plus with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCMiFareTests {
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
    #expect(await code { _ = try await tag.sendMiFareCommand(commandPacket: long) } == 105)
    #expect(await code { _ = try await tag.sendMiFareCommand(commandPacket: Data()) } == 3)
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty)
  }
}

/// Every call to a FeliCa card with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCFeliCaTests {
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
  }

  /// The card is there, and has no such system. So the code is 102 and not 100.
  @Test func `after Polling without an answer no system is selected`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(
      to: .transitCard(idm: Self.idm), .init(pollingOption: .iso18092, feliCaSystemCodes: ["0003", "12FC"]))
    let card = try #require(connected.tag.asFeliCa)
    let error = await code {
      _ = try await card.polling(systemCode: Self.ndef, requestCode: .noRequest, timeSlot: .max1)
    }
    #expect(error == 102)
    #expect(card.isAvailable && card.currentIDm.isEmpty && card.currentSystemCode == Self.transit)
    #expect(await code { _ = try await card.requestResponse() } == 102)
    _ = try await card.polling(systemCode: Self.transit, requestCode: .noRequest, timeSlot: .max1)
    #expect(card.currentIDm == Data(Self.idm))
    #expect(try await card.requestResponse() == 0)
    try await place.finish(connected)
  }
}
