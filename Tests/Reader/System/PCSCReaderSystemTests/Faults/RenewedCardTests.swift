import ReaderProtocol
import TestKit
import Testing

@testable import ReaderModels
@testable import ReaderSimulator

/// Readers that report a card as another one when they power it again, or when a transparent session ends.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RenewedCardTests {
  private static let readers = [CardReaderModel.acr122U, .acr1252U, .acr1552U]

  @Test(arguments: TagKind.allCases, readers)
  func `a tag is announced once`(kind: TagKind, model: CardReaderModel) async throws {
    guard kind.isReadable(on: model) else { return }
    let rig = try await CardReaderRig.scanning(model)
    await rig.readers.renewCards(in: rig.slot)
    for number in 1...3 {
      let bytes = try uri("https://example.com/\(number)")
      let id = try await rig.insert(try kind.make(bytes))
      // If the reader reports the card as another one while it is read, that attempt ends with a problem.
      var report = try await rig.tag()
      while report.problem != nil { report = try await rig.tag() }
      #expect(report.content == .message(bytes) && report.placement.technology == kind.type)
      let slot = rig.slot
      try await rig.wait(for: "a report of the card") { $0.isReported(in: slot) }
      try await rig.announcesNothing()
      #expect(rig.announced.count { $0.problem == nil } == number)
      await rig.remove(id)
    }
  }
}
