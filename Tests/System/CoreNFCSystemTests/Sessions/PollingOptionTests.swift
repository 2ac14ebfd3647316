import Bus
@testable import CoreNFC
import EventLoop
import Names
@testable import TagrouteClient
import TestRig
import Testing

/// For which tags a session asks the daemon, and what it makes of them.
@Suite(.timeLimit(.minutes(5))) struct PollingOptionTests {
  private static func technologies(
    _ kinds: NFCTagReaderSession.PollingOption, identifiers: [String] = []
  ) throws -> [String] {
    let configuration = NFCTagReaderSession.Configuration(
      pollingOption: kinds, iso7816SelectIdentifiers: identifiers, feliCaSystemCodes: ["0003"])
    return try TagPolling(.configured(configuration)).options().technologies
  }

  @Test func `each polling option names its kinds of tags`() throws {
    #expect(try Self.technologies(.iso14443) == ["type-2", "type-4a", "type-4b"])
    #expect(try Self.technologies(.iso15693) == ["type-5"])
    #expect(try Self.technologies(.iso18092) == ["type-3"])
    #expect(try Self.technologies(.pace) == ["type-4a", "type-4b"])
    #expect(try Self.technologies([.iso14443, .pace]) == ["type-2", "type-4a", "type-4b"])
    #expect(
      try Self.technologies([.iso14443, .iso15693, .iso18092], identifiers: ["D2760000850101"])
        == ["type-2", "type-4a", "type-4b", "type-3", "type-5"])
    #expect(errorCode { _ = try Self.technologies([]) } == .readerErrorUnsupportedFeature)
  }

  @Test func `a session for messages looks for every type of the NFC Forum`() throws {
    let session = NFCNDEFReaderSession(delegate: MessageRecorder(), queue: nil, invalidateAfterFirstRead: false)
    let options = try session.options.get()
    #expect(options.technologies == ["type-1", "type-2", "type-3", "type-4a", "type-4b", "type-5"])
  }

  @Test func `a session for Type 5 alone has code 1 if the reader cannot find such tags`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    await place.daemon.refuse(BusError(name: Names.Errors.notPossible, message: "the reader cannot read type-5"))
    place.begin(NFCTagReaderSession(configuration: .init(pollingOption: .iso15693), delegate: recorder))
    #expect(await recorder.rest() == ["ended 1"])
  }

  @Test func `a session for messages reports a Type 5 tag`() async throws {
    let place = try await Place()
    let recorder = MessageRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: nil, invalidateAfterFirstRead: true)
    var card = SessionCard(message: [0xD1, 0x01, 0x03, 0x55, 0x04, 0x61, 0x2E])
    card.technology = "type-5"
    card.uid = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]
    card.properties = [:]
    try await place.daemon.place(card)
    place.begin(session)
    #expect(await recorder.rest() == ["active", "messages 1", "ended 204"])
  }

  @Test func `a MIFARE tag has its family also if the reader reports neither SAK nor ATQA`() async throws {
    let bus = try await PrivateBus.start()
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "tags"))
    let path: ObjectPath = "/tags/1"
    func family(_ technology: String, _ historicalBytes: [UInt8] = []) -> NFCMiFareFamily {
      let properties: [String: Value] = [
        "Technology": .string(technology), "ATQA": .bytes([]), "SAK": .byte(0),
        "HistoricalBytes": .bytes(historicalBytes),
      ]
      let tag = ReaderTag(path, properties, connection, ":1.1")
      #expect(tag.sak == nil)
      return tag.mifareFamily
    }
    #expect(family("type-2") == .ultralight)
    #expect(family("type-4a", [0x80]) == .desfire)
    #expect(family("type-4a", [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]) == .plus)
    #expect(family("type-4a") == .unknown)
    #expect(family("type-4b", [0x80]) == .unknown)
    #expect(family("type-5") == .unknown)
  }
}
