/// A card of ISO/IEC 14443-3 Type B: its states, its pseudo-unique identifier, and the block protocol once it is
/// selected.
struct TypeBTag: FieldTag {
  /// The states of ISO/IEC 14443-3, 7.4. A loss of power leads to `.idle` from all of them.
  private enum State: Equatable {
    /// The card waits for REQB or WUPB. Can transition to: `.requested`, `.ready`.
    case idle
    /// The card answers a request in this time slot, from 2 on. Can transition to: `.requested`, `.ready`.
    case requested(slot: Int)
    /// The card has identified itself and waits for ATTRIB. Can transition to: `.active`, `.halt`, `.requested`.
    case ready
    /// The card is selected. Can transition to: `.halt`.
    case active
    /// The card waits for WUPB. Can transition to: `.requested`, `.ready`.
    case halt
  }

  private let identity: TagPUPI
  private let applicationData: [UInt8]
  private let protocolInfo: [UInt8]
  private var pupi: [UInt8]
  private var state = State.idle
  private var card: BlockProtocolCard
  /// The identifier and the number of requests determine the card's time slot.
  private var slots: Int
  private var requests = 0

  /// `applicationData` has 4 bytes, `protocolInfo` has 3.
  init(pupi: TagPUPI, applicationData: [UInt8], protocolInfo: [UInt8], card: BlockProtocolCard) {
    identity = pupi
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.card = card
    self.pupi = pupi.bytes()
    slots = self.pupi.reduce(0) { $0 * 31 + Int($1) }
  }

  var memory: [UInt8] { card.application.memory }
  mutating func tearWrites(_ tear: WriteTear?) { card.application.writeTear = tear }

  mutating func losePower() {
    state = .idle
    pupi = identity.bytes()
    slots = pupi.reduce(0) { $0 * 31 + Int($1) }
    card.deactivate()
  }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    guard frame.modulation == .typeB, let data = frame.checkedData, let first = data.first else { return nil }
    if state == .active { return exchange(data) }
    switch (first, data.count) {
    case (0x05, 3): return request(family: data[1], parameter: data[2])
    case (_, 1) where first & 0x0F == 0x05 && state == .requested(slot: Int(first >> 4) + 1): return sayWho()
    case (0x1D, 9...) where state == .ready && Array(data[1..<5]) == pupi: return attribute(data)
    case (0x50, 5) where state == .ready && Array(data[1..<5]) == pupi:
      state = .halt
      return .standard([0x00], .typeB)
    default: return nil
    }
  }

  /// Handles REQB and WUPB (7.7). The card belongs to no application family, so only a request for all families finds
  /// it. Bits 1 to 3 of the parameter give the number of time slots. A real card chooses its slot at random; here the
  /// identifier and the number of requests determine it, so that tests are repeatable.
  private mutating func request(family: UInt8, parameter: UInt8) -> RadioFrame? {
    guard state != .halt || parameter & 0x08 != 0, family == 0x00, parameter & 0x07 <= 4 else { return nil }
    let count = 1 << Int(parameter & 0x07)
    guard count > 1 else { return sayWho() }
    requests += 1
    var mixed = UInt64(truncatingIfNeeded: slots) &+ UInt64(requests) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9
    let slot = 1 + Int(mixed >> 40) % count
    if slot == 1 { return sayWho() }
    state = .requested(slot: slot)
    return nil
  }

  private mutating func sayWho() -> RadioFrame? {
    state = .ready
    return .standard([0x50] + pupi + applicationData + protocolInfo, .typeB)
  }

  /// Handles ATTRIB (7.10). The answer repeats the number that the reader gives the card.
  private mutating func attribute(_ command: [UInt8]) -> RadioFrame? {
    let number = command[8] & 0x0F
    guard number < 15 else { return nil }
    state = .active
    card.begin(readerFrameSize: ISODEP.frameSize(code: command[6] & 0x0F), cardIdentifier: number)
    return .standard([number], .typeB)
  }

  private mutating func exchange(_ block: [UInt8]) -> RadioFrame? {
    switch card.receive(block) {
    case .block(let block): return .standard(block, .typeB)
    case .ignore: return nil
    case .blockThenHalt(let block):
      card.deactivate()
      state = .halt
      return .standard(block, .typeB)
    }
  }
}

/// The pseudo-unique PICC identifier of a Type B card (ISO/IEC 14443-3, 7.9.2).
package struct TagPUPI: Sendable, Hashable {
  private enum Kind: Hashable {
    case fixed([UInt8])
    case random
  }

  private let kind: Kind

  /// A random identifier, new each time the field comes on, as on identity cards and passports.
  package static let random = TagPUPI(kind: .random)

  /// An identifier of 4 bytes. Fails for any other number of bytes.
  package static func fixed(_ bytes: [UInt8]) throws(SimulatorError) -> TagPUPI {
    guard bytes.count == 4 else { throw SimulatorError("a PUPI has 4 bytes, not \(bytes.count)") }
    return TagPUPI(kind: .fixed(bytes))
  }

  /// A random identifier that stays the same.
  package static func generated() -> TagPUPI { TagPUPI(kind: .fixed(randomBytes())) }

  private static func randomBytes() -> [UInt8] { (0..<4).map { _ in UInt8.random(in: 0...0xFF) } }

  /// The bytes for one activation.
  func bytes() -> [UInt8] {
    switch kind {
    case .fixed(let bytes): bytes
    case .random: Self.randomBytes()
    }
  }
}
