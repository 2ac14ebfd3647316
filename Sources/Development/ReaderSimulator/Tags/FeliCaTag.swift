/// A FeliCa card (JIS X 6319-4) with systems that answer polls and commands. Each system has its own identifier and
/// services. The card needs no selection, and keeps no state between commands except its memory.
struct FeliCaTag: FieldTag {
  /// The systems in order. The first one answers a poll for any system.
  private var systems: [FeliCaSystem]
  /// Manufacture parameters.
  private let pmm: [UInt8]
  /// Whether the identifier changes each time the field comes on, as on phones.
  private let hasRandomIdentifier: Bool

  /// `pmm` has 8 bytes. If `hasRandomIdentifier`, the last six bytes of the identifier change each time the field comes
  /// on.
  init(systems: [FeliCaSystem], pmm: [UInt8], hasRandomIdentifier: Bool = false) {
    self.systems = systems
    self.pmm = pmm
    self.hasRandomIdentifier = hasRandomIdentifier
  }

  /// The blocks of the NDEF system, or else of the first system, one after the other.
  var memory: [UInt8] {
    let system = systems.first { $0.codes.contains(FeliCaSystem.ndefCode) } ?? systems.first
    return system.map { system in system.blocks.keys.sorted().flatMap { system.blocks[$0] ?? [] } } ?? []
  }

  mutating func tearWrites(_ tear: WriteTear?) { for index in systems.indices { systems[index].writeTear = tear } }

  mutating func losePower() {
    guard hasRandomIdentifier else { return }
    let random = (0..<6).map { _ in UInt8.random(in: 0...0xFF) }
    for index in systems.indices { systems[index].idm.replaceSubrange(2..<8, with: random) }
  }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    guard frame.modulation == .felica212 || frame.modulation == .felica424, let data = frame.checkedData,
      data.count >= 2, Int(data[0]) == data.count
    else { return nil }
    let answer = data[1] == 0x00 ? poll(Array(data[2...])) : command(data[1], Array(data[2...]))
    return answer.map { .standard([UInt8(truncatingIfNeeded: $0.count + 1)] + $0, frame.modulation) }
  }

  /// Answers a poll for a system code (FF stands for any byte), with a request code and the number of time slots.
  private func poll(_ parameters: [UInt8]) -> [UInt8]? {
    guard parameters.count == 4 else { return nil }
    let wanted = parameters[0..<2]
    func matches(_ code: [UInt8]) -> Bool { zip(wanted, code).allSatisfy { $0 == 0xFF || $0 == $1 } }
    guard let system = systems.first(where: { $0.codes.contains(where: matches) }),
      let code = system.codes.first(where: matches)
    else { return nil }
    let more: [UInt8] =
      switch parameters[2] {
      case 0x01: code
      // 212 and 424 kbit/s.
      case 0x02: [0x00, 0x83]
      default: []
      }
    return [0x01] + system.idm + pmm + more
  }

  private mutating func command(_ code: UInt8, _ rest: [UInt8]) -> [UInt8]? {
    guard rest.count >= 8, let index = systems.firstIndex(where: { $0.idm == Array(rest[0..<8]) }) else { return nil }
    let parameters = Array(rest[8...])
    let answer: [UInt8]?
    switch code {
    case 0x02 where !systems[index].isLite: answer = systems[index].keyVersions(parameters)
    // Request Response returns the mode. It is 0, because no key was presented.
    case 0x04 where parameters.isEmpty && !systems[index].isLite: answer = [0x00]
    case 0x06: answer = systems[index].check(parameters)
    case 0x08: answer = systems[index].update(parameters)
    // Request System Code.
    case 0x0C where parameters.isEmpty && !systems[index].isLite:
      answer = [UInt8(truncatingIfNeeded: systems.count)] + systems.flatMap { $0.codes.first ?? [] }
    // Request Service v2.
    case 0x32 where !systems[index].isLite: answer = systems[index].keyVersionsByCipher(parameters)
    // Request Specification Version: no error, format 0, version 1.2.1 of the card's system in BCD, the lower byte
    // first, and no options.
    case 0x3C where parameters == [0, 0] && !systems[index].isLite: answer = [0, 0, 0x00, 0x21, 0x01, 0]
    // Reset Mode: no error.
    case 0x3E where parameters == [0, 0] && !systems[index].isLite: answer = [0, 0]
    default: answer = nil
    }
    return answer.map { [code + 1] + systems[index].idm + $0 }
  }
}
