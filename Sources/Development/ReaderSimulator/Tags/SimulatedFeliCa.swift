/// A FeliCa card (JIS X 6319-4) with systems that answer polls and commands. Each system has its own identifier and
/// services. The card needs no selection, and keeps no state between commands except its memory.
struct SimulatedFeliCa: FieldTag {
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

/// One system of a FeliCa card: blocks behind services that need no key.
struct FeliCaSystem: Sendable {
  /// The access that a service gives everyone.
  enum Access: Sendable {
    case readOnly
    case readWrite
  }

  /// The system code of NFC Forum Type 3 tags.
  static let ndefCode: [UInt8] = [0x12, 0xFC]
  /// The services of a Type 3 tag by code: one for reading, and one for reading and writing.
  static let ndefServices: [Int: Access] = [0x000B: .readOnly, 0x0009: .readWrite]

  /// The system codes that the system answers to. A FeliCa Lite has two for one system.
  let codes: [[UInt8]]
  var idm: [UInt8]
  let services: [Int: Access]
  /// The blocks by number, 16 bytes each.
  var blocks: [Int: [UInt8]]
  /// The most blocks that one command reads, and writes.
  let maximumRead: Int
  let maximumWrite: Int
  /// Whether the card is a FeliCa Lite: few commands, and one block controls which blocks are writable.
  var isLite = false
  /// How far further writes get before the card loses its power, over all blocks of a command; nil if they complete.
  var writeTear: WriteTear?

  /// Request Service: which of the listed areas and services exist. The parameters are the bytes after the identifier.
  /// Returns their number, and the key version of each, or FFFF if it does not exist. Nil if the packet has the wrong
  /// length.
  func keyVersions(_ parameters: [UInt8]) -> [UInt8]? {
    guard let count = parameters.first, (1...32).contains(count), parameters.count == 1 + 2 * Int(count) else {
      return nil
    }
    let versions = (0..<Int(count)).flatMap { index -> [UInt8] in
      let code = Int(parameters[1 + 2 * index]) | Int(parameters[2 + 2 * index]) << 8
      return services[code] == nil ? [0xFF, 0xFF] : [0x00, 0x00]
    }
    return [count] + versions
  }

  /// Request Service v2. Returns status flags, 41 for a card with both AES and DES, the number of codes, and the key
  /// versions of `keyVersions` for each cipher. Nil if the packet has the wrong length.
  func keyVersionsByCipher(_ parameters: [UInt8]) -> [UInt8]? {
    keyVersions(parameters).map { [0x00, 0x00, 0x41] + $0 + $0.dropFirst() }
  }

  /// READ WITHOUT ENCRYPTION. The parameters are the bytes after the identifier. Returns status flags, followed by the
  /// number of blocks and the blocks if the flags are zero. Nil if the packet has the wrong length; no card answers
  /// that.
  func check(_ parameters: [UInt8]) -> [UInt8]? {
    guard let request = BlocksRequest(parameters), request.data.isEmpty else { return nil }
    if let refusal = refusal(request, most: min(maximumRead, 15), isWriting: false) { return refusal.flags }
    return [0x00, 0x00, UInt8(truncatingIfNeeded: request.elements.count)]
      + request.elements.flatMap { blocks[$0.block] ?? [] }
  }

  /// WRITE WITHOUT ENCRYPTION: writes either all blocks or none. The parameters are the bytes after the identifier.
  /// Returns status flags; nil if the packet has the wrong length.
  mutating func update(_ parameters: [UInt8]) -> [UInt8]? {
    guard let request = BlocksRequest(parameters), request.data.count == request.elements.count * 16 else { return nil }
    if let refusal = refusal(request, most: min(maximumWrite, 13), isWriting: true) { return refusal.flags }
    let old = request.elements.flatMap { blocks[$0.block] ?? [] }
    let new = writeTear.contents(request.data, over: old)
    for (index, element) in request.elements.enumerated() {
      write(Array(new[(index * 16)..<(index * 16 + 16)]), to: element.block)
    }
    return [0x00, 0x00]
  }

  private mutating func write(_ data: [UInt8], to block: Int) {
    switch block {
    // Secrets read as zero, so they are not stored.
    case 0x80 where isLite, 0x87 where isLite: break
    case LiteMemoryConfiguration.block where isLite:
      blocks[block] = blocks[block].map { LiteMemoryConfiguration(bytes: $0).updated(data).bytes }
    default: blocks[block] = data
    }
  }

  // MARK: Refusals

  /// Status flags (FeliCa Card User's Manual, "Status Flag"; FeliCa Lite-S User's Manual for those of a Lite).
  private struct Refusal {
    static let serviceCount: UInt8 = 0xA1
    static let blockCount: UInt8 = 0xA2
    static let serviceOrder: UInt8 = 0xA3
    static let service: UInt8 = 0xA6
    static let accessMode: UInt8 = 0xA7
    static let blockNumber: UInt8 = 0xA8

    let reason: UInt8
    /// The index of the wrong element; nil if no single element is wrong.
    var element: Int?

    /// The first byte is FF, or has the bit of the wrong element.
    var flags: [UInt8] { [element.map { 1 << UInt8($0 % 8) } ?? 0xFF, reason] }
  }

  private func refusal(_ request: BlocksRequest, most: Int, isWriting: Bool) -> Refusal? {
    guard (1...(isLite ? 1 : 16)).contains(request.services.count) else { return Refusal(reason: Refusal.serviceCount) }
    guard (1...max(1, most)).contains(request.elements.count) else { return Refusal(reason: Refusal.blockCount) }
    for (index, code) in request.services.enumerated() {
      guard let access = services[code], !isWriting || access == .readWrite else {
        return Refusal(reason: Refusal.service, element: index)
      }
    }
    for (index, element) in request.elements.enumerated() {
      guard element.service < request.services.count else {
        return Refusal(reason: Refusal.serviceOrder, element: index)
      }
      guard element.accessMode == 0 else { return Refusal(reason: Refusal.accessMode, element: index) }
      guard blocks[element.block] != nil, !isWriting || mayWrite(element.block) else {
        return Refusal(reason: Refusal.blockNumber, element: index)
      }
    }
    return nil
  }

  private func mayWrite(_ block: Int) -> Bool {
    guard isLite, let configuration = blocks[LiteMemoryConfiguration.block] else { return true }
    return LiteMemoryConfiguration(bytes: configuration).mayWrite(block)
  }
}

/// The parameters of READ and WRITE WITHOUT ENCRYPTION, after the identifier.
private struct BlocksRequest {
  /// An element of the block list: two bytes, or three for block numbers beyond 255.
  struct Element {
    /// The index of the service.
    let service: Int
    /// Services without keys have only mode 0.
    let accessMode: UInt8
    let block: Int
  }

  /// Service codes, in order.
  let services: [Int]
  let elements: [Element]
  /// The bytes after the block list.
  let data: [UInt8]

  /// Nil if the packet is cut off.
  init?(_ parameters: [UInt8]) {
    var rest = parameters[...]
    func little(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    guard let serviceCount = rest.popFirst(), rest.count >= 2 * Int(serviceCount) else { return nil }
    services = (0..<Int(serviceCount)).map { little(parameters[(1 + 2 * $0)..<(3 + 2 * $0)]) }
    rest = rest.dropFirst(2 * Int(serviceCount))
    guard let count = rest.popFirst() else { return nil }
    var elements: [Element] = []
    for _ in 0..<count {
      guard let first = rest.popFirst() else { return nil }
      let size = first & 0x80 != 0 ? 1 : 2
      guard rest.count >= size else { return nil }
      elements.append(
        Element(service: Int(first & 0x0F), accessMode: first >> 4 & 0x07, block: little(rest.prefix(size))))
      rest = rest.dropFirst(size)
    }
    self.elements = elements
    data = Array(rest)
  }
}

/// The memory configuration block of a FeliCa Lite-S (FeliCa Lite-S User's Manual, "MC block").
struct LiteMemoryConfiguration: Sendable {
  static let block = 0x88
  /// All blocks are writable, and the system code 12FC is answered (SYS_OP).
  static let ofNewNDEFTag: [UInt8] = [0xFF, 0xFF, 0xFF, 0x01, 0x07] + [UInt8](repeating: 0, count: 11)

  let bytes: [UInt8]

  /// The last bit of MC_SP_REG_ALL_RW: whether access rights may still be removed. The other bits stand for the first
  /// 14 blocks and REG.
  private var isOpen: Bool { bytes[1] & 0x80 != 0 }
  /// MC_ALL: whether the system blocks, and bytes 2 to 5 of this block, are writable.
  private var isSystemOpen: Bool { bytes[2] == 0xFF }

  /// Whether everyone may write the block, without a key and without a MAC.
  func mayWrite(_ block: Int) -> Bool {
    switch block {
    case 0...14:
      let bits = { (index: Int) in (Int(bytes[index]) | Int(bytes[index + 1]) << 8) >> block & 1 }
      return bits(0) == 1 && bits(8) == 0 && bits(10) == 0
    case 0x80: return true
    case Self.block: return isOpen || isSystemOpen
    case 0x82, 0x84, 0x86, 0x87: return isSystemOpen
    default: return false
    }
  }

  /// The block after a write. Writes can only remove rights.
  func updated(_ data: [UInt8]) -> LiteMemoryConfiguration {
    LiteMemoryConfiguration(
      bytes: (0..<16).map { index in
        switch index {
        case 0...1: isOpen ? bytes[index] & data[index] : bytes[index]
        case 2...5: isSystemOpen ? data[index] : bytes[index]
        case 6...12: isOpen ? bytes[index] | data[index] : bytes[index]
        default: 0
        }
      })
  }
}
