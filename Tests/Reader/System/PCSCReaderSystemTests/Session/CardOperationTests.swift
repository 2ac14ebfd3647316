import Daemon
import EventLoop
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// Operations on NDEF messages in a session.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardOperationTests {
  struct Place: Sendable, CustomTestStringConvertible {
    let model: CardReaderModel
    let kind: TagKind
    /// Why the tag cannot be made read-only on this reader; nil if it can.
    var locking: ReaderOperationFailure?

    var testDescription: String { "\(kind) on \(model.name)" }
  }

  static let places: [Place] = [
    Place(model: .acr1252U, kind: .type2), Place(model: .acr122U, kind: .type2),
    // Without raw commands, the end of the memory shows the model.
    Place(model: .omnikey5022, kind: .type2),
    Place(model: .acr1252U, kind: .type3), Place(model: .acr122U, kind: .type3),
    Place(model: .uTrust3700, kind: .type3),
    Place(model: .rcS300, kind: .type3), Place(model: .acr1552U, kind: .type3),
    Place(model: .acr1252U, kind: .type4A), Place(model: .omnikey5427, kind: .type4A),
    Place(model: .acr122U, kind: .type4B), Place(model: .omnikey5022, kind: .type4B),
    Place(model: .acr122U, kind: .type1), Place(model: .uTrust3700, kind: .type1),
    Place(model: .acr1252U, kind: .mifareClassic), Place(model: .acr122U, kind: .mifareClassic),
    Place(model: .r502, kind: .mifareClassic), Place(model: .uTrust3700, kind: .mifareClassic),
    Place(model: .acr1552U, kind: .type5),
    // This reader does not know the command that locks a block.
    Place(model: .omnikey5427, kind: .type5, locking: .notSupported),
  ]

  @Test(arguments: places) func `each operation works on each kind of tag`(place: Place) async throws {
    try await CardReaderRig.inSession(place.model).performsEachOperation(on: place.kind, locking: place.locking)
  }

  @Test func `a reader that refuses pages does not write behind them`() async throws {
    let rig = try await CardReaderRig.inSession(.r502)
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri("https://example.com")))
    let before = await rig.readers.memory(of: id)
    let long = try uri("https://example.com/" + String(repeating: "x", count: 60))
    let result = try await rig.perform(.write(long, verify: true), tag)
    #expect(result.failure == .notSupported || result.failure == .tooLong, "\(result)")
    #expect(await rig.readers.memory(of: id) == before)
    #expect(try await rig.perform(.read, tag) == .message(try uri("https://example.com")))
  }

  @Test func `operations fail with the reason if a card is damaged or not NDEF`() async throws {
    try await CardReaderRig.inSession().refusesOperationsWithoutMessage()
  }

  /// The card has another identifier after each selection.
  @Test(arguments: [TagKind.type4A, .type4B])
  func `a card with a random identifier stays one placement`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let tag: SimulatedTag =
      switch kind {
      case .type4B: try .type4B(message: bytes, pupi: .random)
      default: try .type4(message: bytes, uid: .random)
      }
    let (id, found) = try await rig.finds(tag)
    #expect(try await rig.perform(.read, found) == .message(bytes))
    // After a failure, the process selects the card again.
    await rig.add(.silence())
    #expect(try await rig.perform(.query, found).failure == .timeout)
    #expect(try await rig.perform(.read, found) == .message(bytes))
    #expect(await rig.powerUps(id) > 1)
    #expect(rig.reported.count == 1)
    try await rig.takeAway(id, found)
  }

  @Test func `operations are performed one after another`() async throws {
    try await CardReaderRig.inSession().performsInOrder()
  }

  /// One late answer makes each operation long enough to report progress.
  @Test func `long operations report their progress`() async throws {
    let rig = try await CardReaderRig.inSession()
    var options = Type4Options()
    options.fileSize = 8192
    let bytes = message(ofSize: 7000)
    let (_, card) = try await rig.finds(try .type4(message: [], options: options))
    for (request, operation) in [(7, ReaderOperation.write(bytes, verify: true)), (8, .read)]
      as [(UInt64, ReaderOperation)]
    {
      await rig.add(.hold(command: 20))
      await rig.ask(operation, card, request: request)
      try await rig.isHolding()
      rig.timers.schedule(after: .milliseconds(400)) { [readers = rig.readers, slot = rig.slot] in
        Task { await readers.release(slot) }
      }
      #expect(try await rig.result(request) == (request == 7 ? .done : .message(bytes)))
      let progress = rig.seen.compactMap { if case .progress(request, let bytes) = $0 { bytes } else { nil } }
      #expect(!progress.isEmpty && progress == progress.sorted() && (progress.last ?? 0) <= 7100, "\(progress)")
    }
  }
}
