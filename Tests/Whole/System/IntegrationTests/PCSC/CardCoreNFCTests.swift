import Bus
import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC

/// Core NFC with tags of ISO/IEC 15693, which only readers that pcscd drives can find.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCoreNFCTests {
  private static let uid: [UInt8] = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]

  @Test func `an ISO 15693 tag gets block commands`() async throws {
    let desk = try await CardDesktop([.acr1552U])
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let delegate = TagDelegate()
    let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso15693), delegate: delegate)
    try await desk.activate(session, delegate)
    let placement = try await desk.place(try .type5(.slix2, message: try Tag(1).message, uid: Self.uid))
    let found = try await desk.tag(delegate)
    let tag = try #require(found.asISO15693)
    try await session.connect(to: found)
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
    try await desk.finish(session, delegate)

    try await desk.scanning()
    try await desk.announces(2)
  }
}
