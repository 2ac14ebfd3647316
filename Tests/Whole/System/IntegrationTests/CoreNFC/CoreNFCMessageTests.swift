import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// NDEF sessions with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCMessageTests {
  enum Kind: String, CaseIterable {
    case type2, type4

    func card(_ message: [UInt8]) throws -> SimulatedTag {
      guard self == .type4 else { return try .type2(.ntag213, message: message) }
      var options = Type4Options()
      options.containerIsWritable = true
      return try .type4(message: message, options: options)
    }
  }

  private func tagSession(_ delegate: NDEFTagRecorder) -> NFCNDEFReaderSession {
    NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
  }

  // MARK: A delegate that gets tags

  @Test(arguments: Kind.allCases) func `a tag is read, written and locked`(kind: Kind) async throws {
    let place = try await CoreNFCDesktop(starter: "`a tag is read, written and locked`_\(kind)")
    let delegate = NDEFTagRecorder()
    let session = tagSession(delegate)
    try await place.activate(session, delegate)
    let card = await place.reader.place(try kind.card(Tag(1).message))
    let tag = try await place.tag(delegate)
    try await session.connect(to: tag)
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite)

    // The capacity is the length of the longest message.
    let longest = NFCNDEFMessage.filled(capacity)
    try await tag.writeNDEF(longest)
    #expect(try await tag.readNDEF().records.first?.payload == longest.records.first?.payload)
    let bytes = [UInt8](repeating: 0x5A, count: capacity - 3)
    #expect(try await place.memory(of: card).firstRange(of: bytes) != nil)
    #expect(await code { try await tag.writeNDEF(.filled(capacity + 1)) } == 402)

    try await tag.writeLock()
    #expect(try await tag.queryNDEFStatus().0 == .readOnly)
    let locked = try await place.memory(of: card)
    #expect(await code { try await tag.writeNDEF(.filled(10)) } == 400)
    #expect(try await tag.readNDEF().length == capacity)
    #expect(try await place.memory(of: card) == locked)
    try await place.finish(session, delegate)
    try await place.scansAgain()
  }

  @Test func `tags without a message and tags that hold none have their own codes`() async throws {
    let place = try await CoreNFCDesktop()
    let delegate = NDEFTagRecorder()
    let session = tagSession(delegate)
    try await place.activate(session, delegate)
    await place.reader.place(try .type2(.ntag213, message: []))
    let empty = try await place.tag(delegate)
    // The call connects to the only tag.
    #expect(await code { _ = try await empty.readNDEF() } == 403)
    try await session.connect(to: empty)
    #expect(try await empty.queryNDEFStatus().0 == .readWrite)
    #expect(await code { _ = try await empty.readNDEF() } == 403)

    await place.reader.removeAll()
    session.restartPolling()
    await place.reader.place(.paymentCard())
    let other = try await place.tag(delegate)
    try await session.connect(to: other)
    let (status, capacity) = try await other.queryNDEFStatus()
    #expect(status == .notSupported && capacity == 0)
    #expect(await code { _ = try await other.readNDEF() } == 1)
    #expect(await code { try await other.writeNDEF(.filled(10)) } == 1)

    // A Topaz tag, which no tag session finds.
    await place.reader.removeAll()
    session.restartPolling()
    await place.reader.place(try .type1(.topaz96, message: Tag(2).message))
    let topaz = try await place.tag(delegate)
    try await session.connect(to: topaz)
    #expect(try await topaz.readNDEF().link == "https://" + Tag.text(2))
    try await place.finish(session, delegate)
    try await place.scansAgain()
  }

  // MARK: A delegate that gets messages

  @Test func `a session ends after its first message`() async throws {
    let place = try await CoreNFCDesktop()
    let card = await place.reader.place(try Kind.type4.card(Tag(1).message))
    let before = try await place.memory(of: card)
    let delegate = MessageRecorder()
    let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
    place.begin(session)
    #expect(try await place.rest(delegate) == ["active", "messages 1", "ended 204"])
    #expect(try await place.memory(of: card) == before)
    try await place.scansAgain()
  }
}
