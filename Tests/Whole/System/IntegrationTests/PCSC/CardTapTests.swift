import Bus
import Foundation
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// Taps on readers that pcscd drives: each leads to one notification and one message.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardTapTests {
  enum Kind: String, CaseIterable, Sendable {
    case type2, type3, type4, type4B, type5, mifareClassic, desfire

    func tag(_ message: [UInt8]) throws -> SimulatedTag {
      switch self {
      case .type2: try .type2(.ntag215, message: message)
      case .type3: try .type3(message: message)
      case .type4: try .type4(message: message)
      case .type4B: try .type4B(message: message)
      case .type5: try .type5(.slix2, message: message)
      case .mifareClassic: try .mifareClassic(.classic1K, message: message, uid: .fixed([0x04, 1, 2, 3]))
      case .desfire: try .desfire(message: message)
      }
    }
  }

  @Test func `a tap with a tag of each type leads to one notification and one message`() async throws {
    let desk = try await CardDesktop.started([.acr1552U])
    let message = try Tag(1).message
    for (round, kind) in Kind.allCases.enumerated() {
      let card = try await desk.place(try kind.tag(message))
      let shown = try await desk.shown()
      #expect(shown.body == Tag.text(1))
      try await desk.server.click(shown)
      #expect(try await desk.desktop.handed().message == message)
      try await desk.remove(card)
      #expect(await desk.desktop.app.count == round + 1)
      #expect(await desk.server.all.count(where: \.isTap) == round + 1)
    }
  }
}

/// The commands for tags with readers that pcscd drives.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCommandTests {
  private static let uid: [UInt8] = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]

  private func record(_ report: [String: Any]) throws -> [String: Any] {
    try #require((report["records"] as? [[String: Any]])?.first)
  }

  /// A tag of ISO/IEC 15693, which only readers that pcscd drives can find.
  @Test func `a Type 5 tag is read, written and locked`() async throws {
    let desk = try await CardDesktop([.acr1552U])
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let installation = desk.desktop.installation
    let card = try await desk.place(.type5(.slix2, message: try Tag(1).message, uid: Self.uid))
    #expect(try await desk.shown().body == Tag.text(1))
    let before = try await installation.object("read")
    #expect(before["technology"] as? String == "type-5" && before["uid"] as? String == "E004010203040506")
    #expect(before["status"] as? String == "read-write")
    #expect(try record(before)["uri"] as? String == "https://" + Tag.text(1))

    let written = try await installation.object("write", "--smart-poster", "https://example.com/new", "--title", "New")
    let after = try await installation.object("read")
    #expect(try record(after)["uri"] as? String == "https://example.com/new")
    #expect(try record(after)["text"] as? String == "New")
    let bytes = try #require(after["message"] as? String)
    #expect(bytes.count == (written["written"] as? Int).map { 2 * $0 })
    let memory = try #require(await desk.readers.memory(of: card))
    #expect(memory.firstRange(of: Array("example.com/new".utf8)) != nil)

    let info = try await installation.object("info")
    #expect(info["size"] as? Int == written["written"] as? Int)
    // A PC/SC reader tells neither.
    #expect(info["atqa"] is NSNull && info["sak"] is NSNull)
    #expect(info["blockCount"] as? Int == 80 && info["blockSize"] as? Int == 4)

    #expect(try await installation.tagroute("lock").status == .exited(Names.ExitCode.usage))
    #expect(try await installation.object("lock", "--yes")["status"] as? String == "read-only")
    #expect(try await installation.object("info")["status"] as? String == "read-only")
    let locked = await desk.readers.memory(of: card)
    #expect(try await installation.tagroute("write", "--text", "a").status == .exited(Names.ExitCode.notAllowed))
    #expect(await desk.readers.memory(of: card) == locked)
    #expect(try record(try await installation.object("read"))["uri"] as? String == "https://example.com/new")

    // The tag lay there in sessions, so it is no new tap.
    try await desk.scanning()
    try await desk.announces(2)
    #expect(await desk.server.all.count(where: \.isTap) == 2)
  }
}

/// Core NFC with tags of ISO/IEC 15693, which only readers that pcscd drives can find.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCoreNFCTests {
  private static let uid: [UInt8] = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]

  @Test func `an ISO 15693 tag gets block commands`() async throws {
    let desk = try await CardDesktop([.acr1552U])
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let delegate = TagRecorder()
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
    let code = await code {
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
