import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC

/// How a tag session looks for tags, with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct CoreNFCPollingTests {
  private static let version = Data([0x60])
  private static let both = NFCTagReaderSession.Configuration(
    pollingOption: [.iso14443, .iso18092], feliCaSystemCodes: ["0003"])

  /// A session with an NTAG and a transit card on the reader.
  private struct TwoTags {
    let place: CoreNFCDesktop
    let delegate = TagDelegate()
    let session: NFCTagReaderSession

    init(starter: String = #function) async throws {
      place = try await CoreNFCDesktop(starter: starter)
      session = NFCTagReaderSession(configuration: CoreNFCPollingTests.both, delegate: delegate)
      await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
      await place.reader.place(try .transitCard())
      try await place.activate(session, delegate)
    }

    /// The two tags of the next round.
    func tags() async throws -> (any NFCMiFareTag, any NFCFeliCaTag) {
      let tags = try await place.tags(delegate)
      #expect(tags.count == 2)
      let ntag = try #require(tags.compactMap { $0.asMiFare }.first)
      return (ntag, try #require(tags.compactMap { $0.asFeliCa }.first))
    }
  }

  @Test func `tags that lie there together come in one callback, and the connected one gets commands`() async throws {
    let two = try await TwoTags()
    let (ntag, card) = try await two.tags()
    #expect(await errorCode { _ = try await card.requestResponse() } == 104)
    #expect(two.session.connectedTag == nil)
    for _ in 1...2 {
      try await two.session.connect(to: .miFare(ntag))
      #expect(two.session.connectedTag?.asMiFare != nil)
      #expect(try await ntag.sendMiFareCommand(commandPacket: Self.version).count == 8)
      #expect(try await ntag.readNDEF().link == "https://" + Tag.text(1))
      #expect(await errorCode { _ = try await card.requestResponse() } == 104)
      try await two.session.connect(to: .feliCa(card))
      #expect(two.session.connectedTag?.asFeliCa != nil)
      #expect(try await card.requestResponse() == 0)
      #expect(await errorCode { _ = try await ntag.sendMiFareCommand(commandPacket: Self.version) } == 104)
    }
    try await two.place.finish(two.session, two.delegate)
    #expect(!ntag.isAvailable && !card.isAvailable && two.session.connectedTag == nil)
    #expect(await errorCode { _ = try await card.requestResponse() } == 103)
    #expect(await errorCode { try await two.session.connect(to: .feliCa(card)) } == 103)
    try await two.place.scansAgain()
    await two.place.stop()
  }
}
