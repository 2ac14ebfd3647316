import Bus
import Names
import Rig
import Testing

@testable import Daemon

/// Sessions of random commands with a card that takes every command in the widest sense.
@Suite struct LaxCardTests {
  @Test func `no session reaches a payment application, or writes with the access read`() {
    expectNoBreach(sessions: 20_000, seed: 1)
  }

  func expectNoBreach(sessions: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (reads, selections) = (0, 0)
    for session in 0..<sessions {
      let mayWrite = Bool.random(using: &random)
      let kind =
        [TransceivePolicy.Kind.isoDEP, .isoDEP, .desfire, .mifarePlus].randomElement(using: &random) ?? .isoDEP
      let isSelected = Int.random(in: 0..<4, using: &random) == 0
      var policy = TransceivePolicy(
        kind: kind, mayWrite: mayWrite, applications: [LaxCard.declared], isApplicationSelected: isSelected,
        allowsMasterFile: Bool.random(using: &random))
      let first = [nil, LaxCard.payment, LaxCard.other].randomElement(using: &random) ?? nil
      var card = LaxCard(
        kind: kind, selected: isSelected ? LaxCard.declared : first, hasChannels: Bool.random(using: &random),
        hasVersion: Bool.random(using: &random))
      var sent: [[UInt8]] = []
      for _ in 0..<12 {
        let command = Self.command(&random)
        guard (try? policy.check(command)) != nil else { continue }
        sent.append(command)
        policy.learn(card.answer(command), to: command)
        if command.dropFirst().first == 0xB2 { reads += 1 }
        if card.selected == LaxCard.declared { selections += 1 }
      }
      let allowed: Set<LaxCard.Breach> = mayWrite ? [.wrote] : []
      guard card.breaches.isSubset(of: allowed) else {
        let commands = sent.map { Hexadecimal.text($0) }
        Issue.record("session \(session), \(kind), mayWrite \(mayWrite): \(card.breaches) by \(commands)")
        return
      }
    }
    // The declared application is of use.
    #expect(reads > sessions / 100 && selections > sessions / 10)
  }

  private static let instructions: [UInt8] = [
    0xA4, 0xA4, 0xA4, 0xA4, 0xA5, 0x70, 0xC2, 0xC3, 0xB0, 0xB1, 0xB2, 0xB3, 0xCA, 0xCB, 0xC0, 0xA8, 0xAE, 0x84, 0x20,
    0x22, 0x86, 0x88, 0x04, 0x44, 0xE4, 0xE6, 0xE8, 0xD0, 0xD2, 0xD6, 0xD7, 0xDA, 0xDC, 0xE0, 0xE2, 0x0E, 0xFE, 0x60,
  ]
  private static let classes: [UInt8] = [0x00, 0x00, 0x00, 0x00, 0x80, 0x90, 0x10, 0x0C, 0x40, 0x60, 0xA0, 0x84, 0x01]
  private static let parameters: [UInt8] = [0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0C, 0x80, 0x9C]

  private static func command(_ random: inout SeededGenerator) -> [UInt8] {
    let declared = [0x00, 0xA4, 0x04, 0x00, UInt8(LaxCard.declared.count)] + LaxCard.declared
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return declared
    case 2:
      // Another command within one.
      return [0x00, 0xC2, 0x00, 0x00, UInt8(declared.count)] + declared
    case 3: return [0x90, 0x60, 0x00, 0x00, 0x00]
    case 4: return native(&random)
    default: break
    }
    var header = [classes, instructions, parameters, parameters].map { $0.randomElement(using: &random) ?? 0 }
    if Int.random(in: 0..<8, using: &random) == 0 {
      header[Int.random(in: 0..<4, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    var data = Self.data(&random)
    if Int.random(in: 0..<8, using: &random) == 0 { data = Array(data.prefix(Int.random(in: 0...7, using: &random))) }
    guard !data.isEmpty else { return header + (Bool.random(using: &random) ? [0x00] : []) }
    var length = [UInt8(data.count)]
    if Int.random(in: 0..<6, using: &random) == 0 { length = [0x00, 0x00] + length }
    // A length that is wrong.
    if Int.random(in: 0..<20, using: &random) == 0 { length[0] = UInt8.random(in: 0...20, using: &random) }
    return header + length + data + (Bool.random(using: &random) ? [0x00] : [])
  }

  /// A frame of DESFire or MIFARE Plus, or what looks like one.
  private static func native(_ random: inout SeededGenerator) -> [UInt8] {
    let codes: [UInt8] = [
      0x60, 0xAF, 0x5A, 0xBD, 0xBB, 0x3D, 0x6A, 0x0A, 0x30, 0x33, 0xA0, 0xB4, 0x70, 0xCA, 0xDA, 0x80,
    ]
    let code = codes.randomElement(using: &random) ?? 0x60
    let count = [0, 1, 3, 3, 4, 5, 7, 7, 12, 16].randomElement(using: &random) ?? 0
    var rest = (0..<count).map { _ in (parameters + instructions).randomElement(using: &random) ?? 0 }
    if Bool.random(using: &random), !rest.isEmpty { rest[0] = UInt8.random(in: 0...0x1F, using: &random) }
    return [code] + rest
  }

  private static func data(_ random: inout SeededGenerator) -> [UInt8] {
    let file = { (random: inout SeededGenerator) -> [UInt8] in
      [[0x3F, 0x00], [0x50, 0x01], [0x50, 0x02], [0x50, 0x03], [0xE1, 0x03]].randomElement(using: &random) ?? []
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return []
    case 1: return LaxCard.payment
    case 2: return Array(LaxCard.payment.prefix(5))
    case 3: return LaxCard.other
    case 4: return file(&random)
    case 5: return file(&random) + file(&random)
    case 6: return [0x4F, UInt8(LaxCard.payment.count)] + LaxCard.payment
    default: return (0..<Int.random(in: 1...8, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
  }
}

/// A card that takes every command in the widest sense: it ignores the class, the upper bits of parameters, lengths that
/// are wrong, and the commands before. It says which application a SELECT by a file's identifier has led to.
///
/// It has an application of a payment scheme, the declared one, and one that is not declared. One may be selected when
/// the card gets power, and the payment application is on every logical channel but the first.
struct LaxCard {
  static let payment: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]
  static let declared: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x96, 0x01]
  static let other: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x97, 0x01]

  /// What the policy has let through that it must not.
  enum Breach: Hashable { case selectedPayment, reachedPayment, wrote }

  /// By the identifiers of their directories.
  static let applications: [[UInt8]: [UInt8]] = [
    [0x50, 0x01]: payment, [0x50, 0x02]: declared, [0x50, 0x03]: other,
  ]
  private static let writes: Set<UInt8> = [
    0x04, 0x0C, 0x0E, 0x0F, 0x24, 0x2C, 0x44, 0xD0, 0xD1, 0xD2, 0xD6, 0xD7, 0xDA, 0xDB, 0xDC, 0xDD, 0xE0, 0xE2, 0xE4,
    0xE6, 0xE8, 0xFE,
  ]
  /// The names that follow are those of applications.
  private static let managing: Set<UInt8> = [0x04, 0x44, 0xE4, 0xE6, 0xF0]
  /// What ISO 7816 and EMV have for the selected application, which no command of the chips' own class is.
  private static let reads: Set<UInt8> = [0xB0, 0xB1, 0xB2, 0xB3, 0xA2, 0xA8, 0xAE, 0x84, 0x88]

  private let kind: TransceivePolicy.Kind
  /// Whether the card tells logical channels apart.
  private let hasChannels: Bool
  /// Whether it answers GetVersion of DESFire.
  private let hasVersion: Bool
  private(set) var selected: [UInt8]?
  private(set) var breaches: Set<Breach> = []
  private var chain: [UInt8] = []

  init(kind: TransceivePolicy.Kind, selected: [UInt8]?, hasChannels: Bool, hasVersion: Bool) {
    (self.kind, self.selected, self.hasChannels, self.hasVersion) = (kind, selected, hasChannels, hasVersion)
  }

  /// Carries out a command that the policy has let through. Returns its answer.
  mutating func answer(_ bytes: [UInt8]) -> [UInt8] {
    if let native = nativeCode(of: bytes) {
      chain = []
      let writes = kind == .mifarePlus ? Self.plusWrites : Self.desfireWrites
      if writes.contains(native) { breaches.insert(.wrote) }
      return native == 0x60 && hasVersion ? [4, 1, 1, 0x33, 0, 0x16, 5, 0x91, 0xAF] : [0x91, 0x00]
    }
    guard bytes.count >= 4 else { return [0x67, 0x00] }
    let (ins, p1) = (bytes[1], bytes[2])
    // A chip with its own commands has no unknown ones of ISO 7816.
    let isKnown =
      kind == .isoDEP || Self.reads.contains(ins) || Self.writes.contains(ins) || [0xCA, 0xCB, 0xC0].contains(ins)
    if hasChannels, bytes[0] & 0x43 != 0 {
      if isKnown { breaches.insert(.reachedPayment) }
      return [0x90, 0x00]
    }
    let data = chain + Self.data(of: bytes)
    chain = bytes[0] & 0x90 == 0x10 ? data : []
    guard chain.isEmpty else { return [0x90, 0x00] }
    switch ins {
    case 0xA4, 0xA5: return select(data, p1)
    // A new channel begins with the payment application.
    case 0x70:
      breaches.insert(.selectedPayment)
      return [0x01, 0x90, 0x00]
    case 0xC2, 0xC3: return answer(data)
    default: break
    }
    if Self.writes.contains(ins) { breaches.insert(.wrote) }
    if Self.managing.contains(ins), data.starts(with: Self.payment.prefix(5)) { breaches.insert(.reachedPayment) }
    // DESFire's GetVersion does not name an application.
    if selected == Self.payment, isKnown, ins != 0x60 { breaches.insert(.reachedPayment) }
    return [0x70, 0x00, 0x90, 0x00]
  }

  private mutating func select(_ data: [UInt8], _ p1: UInt8) -> [UInt8] {
    if p1 == 0, data.isEmpty || data == [0x3F, 0x00] {
      selected = nil
      return [0x90, 0x00]
    }
    let path = stride(from: 0, to: data.count - 1, by: 2).map { Array(data[$0..<$0 + 2]) }
    let named = [Self.payment, Self.declared, Self.other].first { data.count >= 2 && $0.starts(with: data) }
    guard let found = named ?? path.last.flatMap({ Self.applications[$0] }) else { return [0x6A, 0x82] }
    // No one can know that a file below the declared application is another application. The answer says it.
    let isBelow = named == nil && !path.contains([0x3F, 0x00]) && selected == Self.declared
    if found == Self.payment, !isBelow { breaches.insert(.selectedPayment) }
    selected = found
    return [0x6F, UInt8(found.count + 2), 0x84, UInt8(found.count)] + found + [0x90, 0x00]
  }

  // MARK: The chip's own commands

  /// Commands of DESFire that change data.
  private static let desfireWrites: Set<UInt8> = [
    0x3D, 0x8D, 0x3B, 0x8B, 0xDB, 0xBA, 0x0C, 0x1C, 0xDC, 0xCA, 0xDA, 0xFC, 0xC4, 0x54, 0x5F, 0xCD, 0xCC, 0xC1, 0xDF,
  ]
  /// Commands of MIFARE Plus that change data. What its codes mean differs from DESFire's.
  private static let plusWrites: Set<UInt8> = [
    0xA0, 0xA1, 0xA2, 0xA3, 0xA6, 0xA7, 0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9,
  ]

  /// The code of a command that the chip carries out itself. A frame of four bytes is always such a command.
  private func nativeCode(of bytes: [UInt8]) -> UInt8? {
    guard let first = bytes.first else { return nil }
    if first == 0x90, bytes.count >= 5, kind != .isoDEP || hasVersion, bytes[2...3] == [0, 0],
      !Self.reads.contains(bytes[1]), ![0xA4, 0xA5].contains(bytes[1])
    {
      return bytes[1]
    }
    guard kind != .isoDEP, first > 0x0F || bytes.count < 4, first != 0x90 else { return nil }
    let isAuthentication = first == 0xAF && [17, 33].contains(bytes.count)
    return bytes.count <= 4 || isAuthentication || CommandAPDU(bytes) == nil ? first : nil
  }

  /// All bytes after the length.
  private static func data(of bytes: [UInt8]) -> [UInt8] {
    guard bytes.count > 5 else { return [] }
    let isExtended = bytes[4] == 0 && bytes.count > 7
    let count = isExtended ? Int(bytes[5]) << 8 | Int(bytes[6]) : Int(bytes[4])
    return Array(bytes.dropFirst(isExtended ? 7 : 5).prefix(count))
  }
}
