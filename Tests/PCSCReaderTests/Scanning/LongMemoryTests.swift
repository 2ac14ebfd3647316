import ReaderLink
import TestSupport
import Testing

@testable import ReaderSimulator

/// Tags with large memories, and the limits of readers.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LongMemoryTests {
  /// The container of an NTAG216 declares 872 bytes, of which the TLV takes four.
  @Test(arguments: [CardReaderModel.omnikey5022, .acr1252U, .rcS300])
  func `a full NTAG216 is read four pages at a time`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = message(ofSize: 868)
    let id = try await rig.insert(try .type2(.ntag216, message: bytes))
    #expect(try await rig.message().message == bytes)
    let reads = await rig.commands(id).dropFirst()
    #expect(reads.count == 55)
    #expect(reads.allSatisfy { $0.starts(with: [0xFF, 0xB0, 0x00]) && $0.count == 5 && $0.last == 0x10 })
    // No page behind the area that the container declares.
    #expect(reads.allSatisfy { $0[3] <= 221 })
  }

  /// An ACR122U passes FAST_READ on.
  @Test func `a full NTAG216 takes few commands if the reader passes them on`() async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    let bytes = message(ofSize: 868)
    let id = try await rig.insert(try .type2(.ntag216, message: bytes))
    #expect(try await rig.message().message == bytes)
    #expect(await rig.commands(id).count < 10)
  }

  @Test func `a reader that refuses pages reads a short message and names its limit for a long one`() async throws {
    let rig = try await CardReaderRig.scanning(.r502)
    // The message ends with page 15.
    let bytes = try uri("https://example.com/" + String(repeating: "x", count: 29))
    #expect(bytes.count == 46)
    let id = try await rig.insert(try .type2(.ntag213, message: bytes))
    let (read, placement) = try await rig.message()
    #expect(read == bytes)
    try await rig.takeAway(id, placement)
    let long = try await rig.insert(
      try .type2(.ntag213, message: try uri("https://example.com/" + String(repeating: "x", count: 60))))
    #expect(try await rig.tag().problem == "unsupported: this reader cannot go beyond page 15 of a tag")
    // No command for a page that the reader refuses.
    #expect(await rig.commands(long).allSatisfy { $0[1] != 0xB0 || $0[3] <= 15 })
  }

  @Test func `a tag with two sectors is read as far as a reader without raw commands can`() async throws {
    let rig = try await CardReaderRig.scanning(.omnikey5022)
    let short = message(ofSize: 900)
    let id = try await rig.insert(try .type2(.ntagI2C2k, message: short))
    let (read, placement) = try await rig.message()
    #expect(read == short)
    try await rig.takeAway(id, placement)
    try await rig.insert(try .type2(.ntagI2C2k, message: message(ofSize: 1800)))
    let problem = try #require(try await rig.tag().problem)
    #expect(problem.hasPrefix("unsupported: the NDEF message goes beyond page 255"), "\(problem)")
  }

  // MARK: Type 5

  struct Memory: Sendable, CustomTestStringConvertible {
    let model: SimulatedType5Model
    let size: Int

    var testDescription: String { "\(model.name) with \(size) bytes" }
  }

  static let memories: [Memory] = [
    Memory(model: .slix2, size: 300), Memory(model: .tagItPlus, size: 240), Memory(model: .st25DV04K, size: 480),
    Memory(model: .mb89R118, size: 1980), Memory(model: .mb89R112, size: 8000), Memory(model: .st25DV64K, size: 1500),
  ]

  @Test(arguments: [CardReaderModel.acr1552U, .omnikey5427], memories)
  func `blocks of 4, 8 and 32 bytes are read`(model: CardReaderModel, memory: Memory) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = message(ofSize: memory.size)
    try await rig.insert(try .type5(memory.model, message: bytes))
    #expect(try await rig.message().message == bytes)
  }

  /// The largest memory that ISO/IEC 15693 tags have.
  @Test func `a Type 5 tag of 8,448 bytes is read whole`() async throws {
    let rig = try await CardReaderRig.scanning(.acr1552U)
    let bytes = message(ofSize: 8436)
    let model = try SimulatedType5Model("large", blockSize: 4, blockCount: 2112)
    #expect(model.byteCount == 8448)
    try await rig.insert(try .type5(model, message: bytes))
    #expect(try await rig.message().message == bytes)
  }

  /// While a transparent session is open, the reader does not look for cards.
  @Test(arguments: [(CardReaderModel.acr1552U, TagKind.type5), (.rcS300, .type3)])
  func `a transparent session is closed after the reading`(model: CardReaderModel, kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let id = try await rig.insert(try kind.make(try uri("https://example.com/")))
    _ = try await rig.message()
    let (begin, end) = (try hex("FFC2000002 8100"), try hex("FFC2000002 8200"))
    try await rig.wait(for: "the end of the session") { $0.commands(to: id).last == end }
    #expect(await rig.commands(id).count { $0 == begin } == 1)
  }
}
