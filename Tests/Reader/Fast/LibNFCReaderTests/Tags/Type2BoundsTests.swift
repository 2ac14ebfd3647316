import Rig
import Tags
import Testing

@testable import LibNFCReader
@testable import PCSCReader
@testable import ReaderSimulator

/// Type 2 tags with a capability container or control TLVs that contradict the chip. The long tests try every claim.
@Suite struct Type2BoundsTests {
  private let bounds = Type2Bounds(
    claims: [0x00, 0x06, 0x12, 0x13, 0x14, 0x1B, 0x2D, 0x3E, 0x73, 0x87, 0xE7, 0xFF], step: 64)

  /// The models of the table, one outside it, and copies by another manufacturer.
  private static let models =
    Type2Bounds.models
    + [SimulatedType2Model.ntag212, .ntag213, .ultralightAES, .ntag215, .ntag216].flatMap {
      [$0.copied(knowsVersion: true), $0.copied(knowsVersion: false)]
    }

  @Test(arguments: models)
  func `no claim of a container lets a write leave the user's memory`(model: SimulatedType2Model) throws {
    try bounds.checkWrites(model)
  }

  @Test(arguments: models)
  func `no claim of a container makes a lock incomplete`(model: SimulatedType2Model) throws {
    try bounds.checkLocks(model)
  }

  @Test(arguments: SimulatedType2Model.all)
  func `no control TLV changes what is written and locked`(model: SimulatedType2Model) throws {
    try bounds.checkControls(model)
  }

  @Test(arguments: models)
  func `formatting writes only the container of the model`(model: SimulatedType2Model) throws {
    try bounds.checkFormat(model)
  }

  @Test(arguments: [SimulatedType2Model.ultralight, .ntag212, .ntag213, .ultralightAES, .ntag215, .ntag216])
  func `a copy has the memory that its container claims`(model: SimulatedType2Model) throws {
    for copy in [model, model.copied(knowsVersion: true), model.copied(knowsVersion: false)] {
      try bounds.checkCapacity(copy)
    }
  }

  @Test func `no claim and control TLVs together change what is written and locked`() throws {
    try bounds.checkSample(600, seed: 20_251_129)
  }
}

/// Operations on Type 2 tags that claim something else than their chip. Only the user's memory and the lock bytes of
/// the data sheet may change. The report has to agree with a second look.
struct Type2Bounds {
  typealias Model = SimulatedType2Model

  /// The ways to a tag: libnfc's chip, and readers of pcscd that send any command, use a session for it, or can only
  /// read and write pages.
  enum Way: CaseIterable {
    case chip, passThrough, session, pages
  }

  /// The models of the table, and one with unknown lock bits.
  static let models = SimulatedType2Model.all + [.ntag224DNA]

  /// The sizes that containers claim.
  let claims: [UInt8]
  /// From one place that a control TLV names to the next.
  let step: Int

  func checkWrites(_ model: Model) throws {
    for way in Way.allCases { for claim in claims { try expectWrite(model, claim, [], way) } }
  }

  func checkLocks(_ model: Model) throws {
    for way in Way.allCases { for claim in claims { try expectLock(model, claim, [], way) } }
  }

  /// Lock and memory control TLVs of several sizes.
  func checkControls(_ model: Model) throws {
    for kind in [0x01, 0x02] as [UInt8] {
      for place in stride(from: 0, through: 0xFF, by: step) {
        for (count, page) in [(0x10, 0x44), (0x00, 0x33), (0x0C, 0x34), (0x03, 0x4F)] as [(UInt8, UInt8)] {
          let control = [kind, 3, UInt8(place), count, page]
          try expectLock(model, model.capacityCode, control, .chip)
          if place % 64 == 0 {
            try expectWrite(model, model.capacityCode, control, .chip)
            try expectLock(model, model.capacityCode, control, .pages)
          }
        }
      }
    }
  }

  func checkFormat(_ model: Model) throws {
    var before = try image(model, 0, [])
    before.replaceSubrange(12..<16, with: [0, 0, 0, 0])
    before.replaceSubrange(16..<model.capacity + 16, with: [UInt8](repeating: 0, count: model.capacity))
    for way in Way.allCases {
      let (after, outcome) = try run(.format, before, model, way)
      guard outcome.error == nil else {
        #expect(after == before)
        continue
      }
      #expect(Array(after[12..<16]) == [0xE1, 0x10, model.capacityCode, 0x00])
      #expect(changes(before, after).allSatisfy { (12..<40).contains($0) })
    }
  }

  /// The capacity of a tag with a correct container.
  func checkCapacity(_ model: Model) throws {
    for way in Way.allCases {
      let (_, outcome) = try run(.write, try image(model, model.capacityCode, []), model, way)
      #expect(outcome.error == nil && outcome.capacity == model.capacity - (model.capacity > 256 ? 4 : 2), "\(way)")
    }
  }

  /// Random models, claims, control TLVs, ways and operations.
  func checkSample(_ count: Int, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let models = Self.models.flatMap { [$0, $0, $0.copied(knowsVersion: true), $0.copied(knowsVersion: false)] }
    for _ in 0..<count {
      let model = models.randomElement(using: &random) ?? .ultralight
      let claim = Bool.random(using: &random) ? model.capacityCode : UInt8.random(in: 0...0xFF, using: &random)
      let control = (0..<Int.random(in: 0...2, using: &random)).flatMap { _ in
        [UInt8.random(in: 0x01...0x02, using: &random), 3]
          + (0..<3).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
      }
      let way = Way.allCases.randomElement(using: &random) ?? .chip
      if Bool.random(using: &random) {
        try expectWrite(model, claim, control, way)
      } else {
        try expectLock(model, claim, control, way)
      }
    }
  }

  // MARK: One tag

  private func uid(_ model: Model) -> [UInt8] { [model.manufacturer, 1, 2, 3, 4, 5, 6] }

  /// A tag with a short message, and a pattern in the rest of the user's memory.
  private func image(_ model: Model, _ claim: UInt8, _ control: [UInt8]) throws -> [UInt8] {
    let fresh = try SimulatedTag.type2(model, message: [], uid: .fixed(uid(model))).memory
    let contents = control + [0x03, 3, 0xD0, 0, 0, 0xFE]
    let rest = [UInt8](repeating: 0x5A, count: max(0, model.capacity - contents.count))
    var image = fresh
    image.replaceSubrange(16..<16 + model.capacity, with: (contents + rest).prefix(model.capacity))
    image[14] = claim
    return image
  }

  private func expectWrite(
    _ model: Model, _ claim: UInt8, _ control: [UInt8], _ way: Way, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try image(model, claim, control)
    let (after, outcome) = try run(.write, before, model, way)
    let end = model.dynamicLockPage.map { $0 * 4 } ?? 16 + model.capacity
    let outside = changes(before, after).filter { !(16..<end).contains($0) }
    let what = "\(model.name), claim \(claim), control \(control), \(way): \(outcome)"
    #expect(outside.isEmpty, "\(what), \(outside)", sourceLocation: sourceLocation)
    #expect(outcome.capacity <= end - 16, "\(what)", sourceLocation: sourceLocation)
    // A refusal comes before the first write.
    if outcome.error != nil { #expect(after == before, "\(what)", sourceLocation: sourceLocation) }
  }

  private func expectLock(
    _ model: Model, _ claim: UInt8, _ control: [UInt8], _ way: Way, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try image(model, claim, control)
    let (after, outcome) = try run(.lock, before, model, way)
    let lockBytes = model.dynamicLockPage.map { $0 * 4..<$0 * 4 + 2 } ?? 0..<0
    let others = changes(before, after).filter { ![10, 11, 15].contains($0) && !lockBytes.contains($0) }
    let what = "\(model.name), claim \(claim), control \(control), \(way): \(outcome)"
    #expect(others.isEmpty, "\(what), \(others)", sourceLocation: sourceLocation)
    guard outcome.error == nil else { return }
    var memory = try Type2Memory(model: model, uid: uid(model), image: after)
    let writable = (3..<4 + model.capacity / 4).filter {
      memory.write([1, 2, 3, 4], page: $0) && memory.bytes != after
    }
    #expect(writable.isEmpty, "\(what), pages \(writable)", sourceLocation: sourceLocation)
  }

  private func changes(_ before: [UInt8], _ after: [UInt8]) -> [Int] {
    zip(before, after).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
  }

  private enum Operation {
    case write, lock, format
  }

  private struct Outcome {
    var capacity = 0
    var error: TagWriteError?
  }

  /// Runs an operation on a tag. Returns its memory afterwards.
  private func run(
    _ operation: Operation, _ image: [UInt8], _ model: Model, _ way: Way
  ) throws -> (memory: [UInt8], outcome: Outcome) {
    let tag = try SimulatedTag.type2(model, memory: image)
    guard way != .chip else {
      let reader = try OpenReader()
      let id = reader.place(tag)
      var channel = try reader.select(.typeA)
      let outcome = outcome(of: operation, on: channel.tag, &channel)
      return (reader.memory(of: id) ?? [], outcome)
    }
    let models: [Way: CardReaderModel] = [.passThrough: .acr122U, .session: .acr1252U]
    var channel = try SlotConnection.channel(to: tag, on: models[way] ?? .omnikey5022)
    let outcome = outcome(of: operation, on: channel.tag, &channel)
    return (channel.link.connection.memory, outcome)
  }

  /// A write fills the tag, and fails if a second look does not find the message.
  private func outcome(
    of operation: Operation, on tag: TagActivation, _ channel: inout some TagChannel
  ) -> Outcome {
    var outcome = Outcome()
    do {
      switch operation {
      case .write:
        outcome.capacity = try tag.queryNDEF(over: &channel).capacity
        let message = ndefMessage(ofSize: max(3, outcome.capacity))
        try tag.writeNDEF(message, isVerifying: true, over: &channel)
        expect(try tag.readNDEF(over: &channel), holds: message)
      case .lock: try tag.lockNDEF(over: &channel)
      case .format:
        try tag.writeNDEF(ndefMessage(ofSize: 20), isVerifying: true, isFormatting: true, over: &channel)
      }
    } catch {
      outcome.error = error as? TagWriteError ?? (error as? TagChannelError).map(TagWriteError.channel)
    }
    return outcome
  }
}
