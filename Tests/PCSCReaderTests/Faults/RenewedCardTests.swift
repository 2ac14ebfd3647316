import ReaderLink
import TestSupport
import Testing

@testable import Framing
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
      let (message, placement) = try await rig.message()
      #expect(message == bytes && placement.technology == kind.type)
      let slot = rig.slot
      try await rig.wait(for: "a report of the card") { $0.isReported(in: slot) }
      try await rig.announcesNothing()
      #expect(rig.announced.count == number)
      await rig.remove(id)
    }
  }

  @Test(arguments: TagKind.allCases, readers)
  func `a tag of a session stays that tag`(kind: TagKind, model: CardReaderModel) async throws {
    guard kind.isReadable(on: model) else { return }
    let rig = try await CardReaderRig.inSession(model)
    await rig.readers.renewCards(in: rig.slot)
    let (old, new) = (try uri("https://example.com/old"), try uri("https://example.com/new"))
    let (id, tag) = try await rig.finds(try kind.make(old))
    #expect(try await rig.perform(.read, tag) == .message(old))
    await rig.add(.silence())
    _ = try await rig.perform(.read, tag)
    #expect(try await rig.perform(.write(new, verify: true), tag) == .done)
    #expect(try await rig.perform(.read, tag) == .message(new))
    #expect(rig.reported.count == 1)
    try await rig.takeAway(id, tag)
  }

  /// The tag does not answer the command, so it loses its power before the next one.
  @Test func `a tag that refuses a client's command stays that tag`() async throws {
    let rig = try await CardReaderRig.inSession(.acr1252U)
    await rig.readers.renewCards(in: rig.slot)
    let bytes = try uri("https://example.com/")
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: bytes))
    for _ in 1...2 {
      // READ of a page that the tag does not have.
      let result = try await rig.perform(.transceive([0x30, 0xF0], timeout: 500), tag)
      #expect(result.failure == .timeout, "\(result)")
      #expect(try await rig.perform(.read, tag) == .message(bytes))
    }
    #expect(rig.reported.count == 1)
    try await rig.takeAway(id, tag)
  }

  @Test func `another tag in its place is another one`() async throws {
    let rig = try await CardReaderRig.inSession(.acr1252U)
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri("https://example.com/1")))
    let result = try await rig.perform(.transceive([0x30, 0xF0], timeout: 500), tag)
    #expect(result.failure == .timeout, "\(result)")
    await rig.remove(id)
    let bytes = try uri("https://example.com/2")
    try await rig.insert(try .type2(.ntag213, message: bytes))
    #expect(try await rig.sessionRemoval() == tag.placement.number)
    #expect(try await rig.perform(.read, try await rig.sessionTag()) == .message(bytes))
  }
}
