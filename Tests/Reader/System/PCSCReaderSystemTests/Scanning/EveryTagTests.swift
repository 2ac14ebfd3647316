import Names
import ReaderProtocol
import TestKit
import Testing

@testable import PCSCReader
@testable import ReaderModels
@testable import ReaderSimulator

/// Each type of tag on each model of reader, as the table `ReaderModel` has it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct EveryTagTests {
  @Test(arguments: TagKind.allCases, CardReaderModel.contactless)
  func `a tag is read if the model can read its type`(kind: TagKind, model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = try uri("https://example.com/")
    let id = try await rig.insert(try kind.make(bytes))
    guard kind.isFound(by: model) else {
      try await rig.announcesNothing()
      #expect(rig.announced.isEmpty)
      return
    }
    let report = try await rig.tag()
    #expect(report.placement.technology == kind.type)
    if kind.isReadable(on: model) {
      #expect(report.content == .message(bytes))
    } else {
      #expect(report.problem?.hasPrefix("unsupported: ") == true, "\(report)")
    }
    try await rig.announcesNothing()
    try await rig.takeAway(id, report.placement)
  }

  /// The driver tells the numbers of the device, or pcscd its name.
  @Test(arguments: CardReaderModel.contactless)
  func `the process knows each model by numbers and name`(model: CardReaderModel) throws {
    let interface = model.slots.first?.interfaceName.map { " [\($0)]" } ?? ""
    let name = ReaderName(bytes: Array("\(model.friendlyName)\(interface) 00 00".utf8))
    var properties = ReaderProperties()
    let byName = ReaderTraits(properties, name).model
    (properties.vendor, properties.product) = (model.vendor, model.product)
    let byNumbers = ReaderTraits(properties, ReaderName(bytes: Array("Example 00 00".utf8))).model
    #expect(byName.title == byNumbers.title)
    #expect(byName.title != ReaderModel.generic.title)
  }

  @Test func `an unknown model is tried with the commands of every reader`() {
    let traits = ReaderTraits(ReaderProperties(), ReaderName(bytes: Array("Example 00 00".utf8)))
    #expect(traits.model == .generic)
    #expect(!traits.takesExtendedAPDUs)
  }
}

/// Tags with the largest memories, and readers that do not reach all of a memory.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LongMemoryTests {
  /// Of the 2,112 blocks, those from 256 on need commands with block numbers of two bytes.
  @Test func `a Type 5 tag of 8,448 bytes is read to its end`() async throws {
    try await reads(8_436, on: .acr1552U)
  }

  /// One command for each block.
  @Test func `an OMNIKEY reads blocks of a Type 5 tag whose numbers have two bytes`() async throws {
    try await reads(1_500, on: .omnikey5427)
  }

  private func reads(_ size: Int, on model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let large = try SimulatedType5Model("large", blockSize: 4, blockCount: 2112)
    let bytes = message(ofSize: size)
    let id = try await rig.insert(try .type5(large, message: bytes))
    let tap = try await rig.message()
    #expect(tap.message == bytes)
    try await rig.announcesNothing()
    try await rig.takeAway(id, tap.placement)
  }

  @Test(arguments: [CardReaderModel.acr1552U, .omnikey5427], [SimulatedType5Model.mb89R118, .mb89R112])
  func `a Type 5 tag with large blocks is read to its end`(
    model: CardReaderModel, type: SimulatedType5Model
  ) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = message(ofSize: 1_900)
    try await rig.insert(try .type5(type, message: bytes))
    #expect(try await rig.message().message == bytes)
  }

  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .omnikey5022, .uTrust3700])
  func `a Type 2 tag with 868 bytes is read to its end`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = message(ofSize: 868)
    try await rig.insert(try .type2(.ntag216, message: bytes))
    #expect(try await rig.message().message == bytes)
  }

  // MARK: A reader with a limit

  /// The length of the TLV block takes two bytes, so that a message of 46 bytes ends with page 15.
  @Test func `an R502 reads what ends with page 15`() async throws {
    let rig = try await CardReaderRig.scanning(.r502)
    let bytes = message(ofSize: 46)
    let (id, placement) = try await place(bytes, rig)
    #expect(rig.announced.last?.content == .message(bytes))
    try await rig.takeAway(id, placement)
  }

  @Test(arguments: [47, 100]) func `an R502 says what it cannot read`(size: Int) async throws {
    let rig = try await CardReaderRig.scanning(.r502)
    let (id, placement) = try await place(message(ofSize: size), rig)
    #expect(
      rig.announced.last?.problem
        == "unsupported: the NDEF message goes beyond page 15 of the tag, and this reader cannot read further")
    // The reader was not asked for a page that it refuses.
    #expect(await rig.commands(id).allSatisfy { $0.count != 5 || $0[1] != 0xB0 || $0[3] <= 0x0F })
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
  }

  private func place(_ bytes: [UInt8], _ rig: CardReaderRig) async throws -> (TagID, Placement) {
    let id = try await rig.insert(try .type2(.ntag213, message: bytes))
    return (id, try await rig.tag().placement)
  }
}
