/// A card of ISO/IEC 14443-3 Type B: its states, its pseudo-unique identifier, and the block protocol once it is chosen.
struct TypeBTag: FieldTag {
  /// The states of ISO/IEC 14443-3, 7.4.
  private enum State {
    case idle
    /// It has said who it is and waits to be chosen.
    case ready
    case active
    case halt
  }

  private let identity: TagPUPI
  private let applicationData: [UInt8]
  private let protocolInfo: [UInt8]
  private var pupi: [UInt8]
  private var state = State.idle
  private var card: BlockProtocolCard

  /// - Parameters:
  ///   - pupi: fixed or random.
  ///   - applicationData: 4 bytes.
  ///   - protocolInfo: 3 bytes.
  ///   - card: what is spoken to once the tag is chosen.
  init(pupi: TagPUPI, applicationData: [UInt8], protocolInfo: [UInt8], card: BlockProtocolCard) {
    identity = pupi
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.card = card
    self.pupi = pupi.bytes()
  }

  var memory: [UInt8] { card.application.memory }
  var writeTear: WriteTear? {
    get { card.application.writeTear }
    set { card.application.writeTear = newValue }
  }

  mutating func losePower() {
    state = .idle
    pupi = identity.bytes()
    card.deactivate()
  }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    guard frame.modulation == .typeB, let data = frame.checkedData, let first = data.first else { return nil }
    if state == .active { return exchange(data) }
    switch (first, data.count) {
    case (0x05, 3): return request(family: data[1], wakesHalted: data[2] & 0x08 != 0)
    case (0x1D, 9...) where state == .ready && Array(data[1..<5]) == pupi: return attribute(data)
    case (0x50, 5) where state == .ready && Array(data[1..<5]) == pupi:
      state = .halt
      return .standard([0x00], .typeB)
    default: return nil
    }
  }

  /// REQB and WUPB (7.7): its family is none, so that only those who ask for all find it.
  private mutating func request(family: UInt8, wakesHalted: Bool) -> RadioFrame? {
    guard state != .halt || wakesHalted, family == 0x00 else { return nil }
    state = .ready
    return .standard([0x50] + pupi + applicationData + protocolInfo, .typeB)
  }

  /// ATTRIB (7.10); the answer repeats the number that the card now has.
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
public struct TagPUPI: Sendable, Hashable {
  private enum Kind: Hashable {
    case fixed([UInt8])
    case random
  }

  private let kind: Kind

  /// New whenever the field comes on: identity cards and passports.
  public static let random = TagPUPI(kind: .random)

  /// - Parameter bytes: 4 bytes.
  /// - Returns: the identifier.
  /// - Throws: `SimulatorError` for any other number of bytes.
  public static func fixed(_ bytes: [UInt8]) throws(SimulatorError) -> TagPUPI {
    guard bytes.count == 4 else { throw SimulatorError("a PUPI has 4 bytes, not \(bytes.count)") }
    return TagPUPI(kind: .fixed(bytes))
  }

  /// A made-up one that stays.
  public static func generated() -> TagPUPI { TagPUPI(kind: .fixed(randomBytes())) }

  private static func randomBytes() -> [UInt8] { (0..<4).map { _ in UInt8.random(in: 0...0xFF) } }

  /// The bytes for one activation.
  func bytes() -> [UInt8] {
    switch kind {
    case .fixed(let bytes): bytes
    case .random: Self.randomBytes()
    }
  }
}
