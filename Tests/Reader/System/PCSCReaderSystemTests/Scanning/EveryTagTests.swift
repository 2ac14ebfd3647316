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
