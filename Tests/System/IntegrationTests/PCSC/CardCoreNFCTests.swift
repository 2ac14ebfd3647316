import Bus
import ReaderSimulator
import TestRig
import Testing

@testable import CoreNFC

/// Core NFC with tags of ISO/IEC 15693, which only readers that pcscd drives can find.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCoreNFCTests {
  private static let uid: [UInt8] = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]

  /// The next callback of a session.
  private func next(_ delegate: some RecordingDelegate, _ desk: CardDesktop) async throws -> Told? {
    let callbacks = delegate.callbacks
    return try await desk.desktop.within("a callback") { OnQueue(await callbacks.next()) }.value
  }

  /// Begins a session, and waits until it has the reader.
  private func activate(
    _ session: NFCReaderSession, _ delegate: some RecordingDelegate, _ desk: CardDesktop
  ) async throws {
    session.bus = desk.desktop.systemBus
    session.begin()
    #expect(try await next(delegate, desk)?.name == "active")
  }

  /// Ends a session, and requires that the end is its only other callback.
  private func finish(
    _ session: NFCReaderSession, _ delegate: some RecordingDelegate, _ desk: CardDesktop
  ) async throws {
    session.invalidate()
    #expect(try await next(delegate, desk)?.name == "ended 200")
    #expect(try await next(delegate, desk) == nil)
  }

  private func desk(starter: String = #function) async throws -> CardDesktop {
    let desk = try await CardDesktop([.acr1552U], starter: starter)
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    return desk
  }

  /// A session with an ISO 15693 tag to which it is connected.
  private func connect(
    to card: SimulatedTag, _ desk: CardDesktop
  ) async throws -> (session: NFCTagReaderSession, delegate: TagDelegate, tag: any NFCISO15693Tag, placement: TagID) {
    let delegate = TagDelegate()
    let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso15693), delegate: delegate)
    try await activate(session, delegate, desk)
    let placement = try await desk.place(card)
    guard case .tags(let tags)? = try await next(delegate, desk), let found = tags.first,
      case .iso15693(let tag) = found
    else { throw RigError("expected an ISO 15693 tag") }
    try await session.connect(to: found)
    return (session, delegate, tag, placement)
  }

  @Test func `an ISO 15693 tag gets block commands`() async throws {
    let desk = try await desk()
    let message = try Tag(1).message
    let (session, delegate, tag, placement) = try await connect(
      to: .type5(.slix2, message: message, uid: Self.uid), desk)
    #expect(tag.identifier == Data(Self.uid) && tag.icManufacturerCode == 4)
    #expect(tag.icSerialNumber == Data(Self.uid[2...]))
    let memory = try #require(await desk.readers.memory(of: placement))
    let flags: NFCISO15693RequestFlag = [.highDataRate]
    #expect(try await tag.readSingleBlock(requestFlags: flags, blockNumber: 0) == Data(memory[..<4]))
    let blocks = try await tag.readMultipleBlocks(requestFlags: flags, blockRange: NSRange(location: 0, length: 4))
    #expect(blocks == (0..<4).map { Data(memory[4 * $0..<4 * $0 + 4]) })

    let bytes = Data([0xCA, 0xFE, 0x01, 0x23])
    try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 60, dataBlock: bytes)
    #expect(try await tag.readSingleBlock(requestFlags: flags, blockNumber: 60) == bytes)
    #expect(await desk.readers.memory(of: placement).map { Data($0[240..<244]) } == bytes)
    try await tag.lockBlock(requestFlags: flags, blockNumber: 60)
    // The tag answers with an error. It is still there.
    let code = await errorCode {
      try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 60, dataBlock: Data([1, 2, 3, 4]))
    }
    #expect(code == 102)
    #expect(try await tag.readSingleBlock(requestFlags: flags, blockNumber: 60) == bytes)
    #expect(tag.isAvailable)
    try await finish(session, delegate, desk)

    try await desk.scanning()
    try await desk.announces(2)
  }

  @Test func `the NDEF message of an ISO 15693 tag is read, written and locked`() async throws {
    let desk = try await desk()
    let (session, delegate, tag, placement) = try await connect(
      to: .type5(.st25DV64K, message: try Tag(1).message, uid: Self.uid), desk)
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite && capacity > 200)
    try await tag.writeNDEF(.filled(200))
    #expect(try await tag.readNDEF().length == 200)
    let bytes = [UInt8](repeating: 0x5A, count: 197)
    #expect(await desk.readers.memory(of: placement)?.firstRange(of: bytes) != nil)
    #expect(await errorCode { try await tag.writeNDEF(.filled(258)) } == (capacity < 258 ? 402 : nil))
    try await tag.writeLock()
    #expect(try await tag.queryNDEFStatus().0 == .readOnly)
    let locked = await desk.readers.memory(of: placement)
    #expect(await errorCode { try await tag.writeNDEF(.filled(10)) } == 400)
    #expect(await desk.readers.memory(of: placement) == locked)
    try await finish(session, delegate, desk)
  }
}
