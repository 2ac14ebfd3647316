import Bus
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
        let commands = sent.map { $0.map { policy.hexadecimal($0) }.joined() }
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
