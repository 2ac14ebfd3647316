import Daemon
import NDEF
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit
@testable import ReaderProtocol

/// Operations on tags in a reader session, through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionOperationTests {
  @Test(arguments: TagKind.ofPN53x)
  func `each operation works on each kind of tag`(_ kind: TagKind) async throws {
    try await ReaderRig.inSession().performsEachOperation(on: kind)
  }

  @Test(arguments: [TagKind.type2, .mifareClassic])
  func `a blank tag is formatted`(_ kind: TagKind) async throws {
    let rig = try await ReaderRig.inSession()
    let message = try uri("https://example.com")
    let blank: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0, 0, 0, 0, 0, 0]
    let made = try kind == .type2 ? SimulatedTag.type2(.ntag213, memory: blank) : .mifareClassicBlank(.classic1K)
    let tag = try await rig.finds(made).tag
    #expect(try await rig.perform(.write(message, verify: true), tag).failure != nil)
    #expect(try await rig.perform(.write(message, verify: true, format: true), tag) == .done)
    #expect(try await rig.perform(.read, tag) == .message(message))
  }

  @Test func `operations fail with the reason if a tag is damaged or not NDEF`() async throws {
    let rig = try await ReaderRig.inSession()
    try await rig.refusesOperationsWithoutMessage()
    let options = Type4Options { ($0.declaredLength, $0.ats) = (0xFFF0, [0x00]) }
    let broken = try await rig.finds(try .type4(message: uri("https://example.com"), options: options)).tag
    #expect(broken.historicalBytes.isEmpty)
    #expect(try await rig.perform(.transceive([0x60], timeout: 5000), broken).failure == .refused)
  }

  /// The tag has a new identifier after each selection.
  @Test func `a tag with a random identifier stays one placement`() async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let tag = try await rig.finds(try .type3(message: bytes, options: Type3Options(.phone))).tag
    #expect(try await rig.perform(.read, tag) == .message(bytes))
    // After a timeout, the reader process selects the tag again.
    #expect(try await rig.perform(.transceive([0x04, 1, 2, 3, 4, 5, 6, 7, 8], timeout: 100), tag).failure == .timeout)
    #expect(try await rig.perform(.read, tag) == .message(bytes))
    try await rig.commands(40)
    #expect(rig.reported.count == 1)
  }

  // MARK: Raw commands

  @Test func `raw commands reach a Type 2 tag`() async throws {
    let rig = try await ReaderRig.inSession()
    let (id, tag) = try await rig.finds(try .type2(.ntag215, message: uri("https://example.com")))
    let version = try await rig.transceive([0x60], tag)
    #expect(version.count == 8)
    let memory = try #require(await rig.simulator.memory(of: id))
    #expect(try await rig.transceive([0x30, 0x00], tag) == Array(memory[..<16]))
    #expect(try await rig.transceive([0x3A, 0x00, 0x07], tag) == Array(memory[..<32]))
    #expect(try await rig.transceive([0xA2, 0x10, 1, 2, 3, 4], tag) == [0x0A])
    #expect(try await rig.transceive([0x30, 0x10], tag).prefix(4) == [1, 2, 3, 4])
    // The tag does not answer an invalid command, and works afterwards.
    #expect(try await rig.perform(.transceive([0x30, 0xF0], timeout: 50), tag).failure == .timeout)
    #expect(try await rig.transceive([0x60], tag) == version)
    let long = [UInt8](repeating: 0x30, count: 300)
    #expect(try await rig.perform(.transceive(long, timeout: 5000), tag).failure == .tooLong)
    #expect(try await rig.perform(.read, tag) == .message(uri("https://example.com")))
  }

  @Test func `raw commands reach a FeliCa card`() async throws {
    let rig = try await ReaderRig.inSession(TagSessionOptions(number: 1, systemCodes: [0x0003]))
    let card = try await rig.finds(try .transitCard(idm: [1, 0x2E, 3, 4, 5, 6, 7, 8])).tag
    let history = SimulatedTag.transitHistory()
    #expect(try await rig.transceive([0x02] + card.idm + [1, 0x0F, 0x09], card) == [0x03] + card.idm + [1, 0, 0])
    func read(_ blocks: Range<UInt8>) async throws -> [UInt8] {
      let list: [UInt8] = blocks.flatMap { [0x80, $0] }
      return try await rig.transceive([0x06] + card.idm + [1, 0x0F, 0x09, UInt8(blocks.count)] + list, card)
    }
    #expect(try await read(0..<12) == [0x07] + card.idm + [0, 0, 12] + history[..<12].flatMap { $0 })
    #expect(try await read(12..<20) == [0x07] + card.idm + [0, 0, 8] + history[12...].flatMap { $0 })
    #expect(try await read(0..<20) == [0x07] + card.idm + [0xFF, 0xA2])
    #expect(try await rig.transceive([0x0C] + card.idm, card).suffix(4) == [0x00, 0x03, 0xFE, 0x00])
    #expect(try await rig.transceive([0x00, 0x00, 0x03, 0x01, 0x00], card).prefix(9) == [0x01] + card.idm)
  }

  @Test func `native commands reach a DESFire card`() async throws {
    let rig = try await ReaderRig.inSession()
    let card = try await rig.finds(try .desfire(message: uri("https://example.com"))).tag
    // The client requests the rest of the answer. The reader process must not send another command between.
    #expect(try await rig.transceive([0x60], card).first == 0xAF)
    #expect(try await rig.transceive([0xAF], card).first == 0xAF)
    try await rig.commands(20)
    #expect(try await rig.transceive([0xAF], card).first == 0x00)
    #expect(try await rig.transceive([0x90, 0x60, 0x00, 0x00, 0x00], card).suffix(2) == [0x91, 0xAF])
    #expect(try await rig.perform(.read, card) == .message(uri("https://example.com")))
  }

  @Test(arguments: [0, 100, 1000, 4000]) func `extended APDUs are sent and received`(size: Int) async throws {
    let name: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let rig = try await ReaderRig.inSession(TagSessionOptions(number: 1, applicationIdentifiers: [name]))
    let card = try await rig.finds(.applicationCard()).tag
    #expect(card.initialApplication == 0)
    #expect(try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], card) == name + [0x90, 0x00])
    let data = (0..<max(size, 1)).map { UInt8(truncatingIfNeeded: $0) }
    let length = [UInt8(truncatingIfNeeded: data.count >> 8), UInt8(truncatingIfNeeded: data.count)]
    let command = [0x80, 0x10, 0x00, 0x00, 0x00] + length + data + [0x00, 0x00]
    #expect(try await rig.transceive(command, card) == data + [0x90, 0x00])
  }

  // MARK: Time

  @Test func `a command that exceeds its timeout fails and the next one works`() async throws {
    let rig = try await ReaderRig.inSession()
    let card = try await rig.finds(.applicationCard()).tag
    try await rig.commands(10)
    await rig.simulator.add(.delay(.milliseconds(800), command: 1))
    // The delay hits a presence check, which is retried, or the command, which fails.
    let result = try await rig.perform(.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], timeout: 100), card)
    #expect(result.failure == .timeout || result == .answer([0x69, 0x85]))
    #expect(try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], card, timeout: 5000) == [0x69, 0x85])
  }

  @Test func `the reader waits for a slow card until the timeout`() async throws {
    let rig = try await ReaderRig.inSession()
    let card = try await rig.finds(.applicationCard()).tag
    _ = try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], card)
    await rig.simulator.add(.delay(.milliseconds(1500), command: 1))
    #expect(try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], card, timeout: 5000) == [0x69, 0x85])
    #expect(!rig.seen.contains { if case .crashed = $0 { true } else { false } })
  }

  @Test func `long operations report their progress`() async throws {
    let rig = try await ReaderRig.inSession()
    var options = Type4Options()
    options.fileSize = 8192
    let bytes = try NDEFMessage.uri("https://example.com/" + String(repeating: "x", count: 7000)).encoded()
    let card = try await rig.finds(try .type4(message: [], options: options)).tag
    // One late answer makes each operation long enough to report progress.
    let late = Fault.delay(ProgressChannel<TargetChannel>.interval + .milliseconds(50), command: 15)
    await rig.simulator.add(late)
    #expect(try await rig.perform(.write(bytes, verify: true), card, request: 7) == .done)
    func progress(_ request: UInt64) -> [UInt32] {
      rig.seen.compactMap { if case .progress(request, let bytes) = $0 { bytes } else { nil } }
    }
    let written = progress(7)
    #expect(!written.isEmpty && written == written.sorted())
    #expect((written.last ?? 0) <= 7100)
    await rig.simulator.add(late)
    #expect(try await rig.perform(.read, card, request: 8) == .message(bytes))
    #expect(!progress(8).isEmpty && (progress(8).last ?? 0) <= 7100)
  }
}
