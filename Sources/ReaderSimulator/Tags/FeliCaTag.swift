/// A FeliCa card (JIS X 6319-4): systems, each with an identifier and services of its own, that answer polls and commands.
/// A card has no state that a reader could leave it in.
struct FeliCaTag: FieldTag {
  /// Status flags behind FF in the answer to a command that is refused (FeliCa Card User's Manual, 4.5).
  private enum Refusal {
    static let serviceCount: UInt8 = 0xA1
    static let blockCount: UInt8 = 0xA2
    static let serviceCode: UInt8 = 0xA6
    static let blockList: UInt8 = 0xA7
    static let blockNumber: UInt8 = 0xA8
  }

  /// The systems in their order: a poll of any system is answered by the first.
  private var systems: [FeliCaSystem]
  /// Manufacture parameters.
  private let pmm: [UInt8]

  init(systems: [FeliCaSystem], pmm: [UInt8]) {
    self.systems = systems
    self.pmm = pmm
  }

  /// The blocks of the NDEF system, else of the first, one behind the other.
  var memory: [UInt8] {
    let system = systems.first { $0.codes.contains(FeliCaSystem.ndefCode) } ?? systems.first
    return system.map { system in system.blocks.keys.sorted().flatMap { system.blocks[$0] ?? [] } } ?? []
  }

  mutating func losePower() {}

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    guard frame.modulation == .felica212 || frame.modulation == .felica424, let data = frame.checkedData,
      data.count >= 2, Int(data[0]) == data.count
    else { return nil }
    let answer = data[1] == 0x00 ? poll(Array(data[2...])) : command(data[1], Array(data[2...]))
    return answer.map { .standard([UInt8(truncatingIfNeeded: $0.count + 1)] + $0, frame.modulation) }
  }

  /// System code (FF stands for any byte), request code, time slots.
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
    let head = [code + 1] + systems[index].idm
    switch code {
    case 0x04 where parameters.isEmpty: return head + [0x00]
    case 0x06: return head + check(systems[index], parameters)
    case 0x08: return head + update(&systems[index], parameters)
    case 0x0C where parameters.isEmpty:
      return head + [UInt8(truncatingIfNeeded: systems.count)] + systems.flatMap { $0.codes.first ?? [] }
    default: return nil
    }
  }

  /// - Returns: status flags, and where they are zero the number of blocks and the blocks.
  private func check(_ system: FeliCaSystem, _ parameters: [UInt8]) -> [UInt8] {
    switch request(system, parameters, most: min(system.maximumRead, 15), isWriting: false) {
    case .failure(let refusal): return [refusal.flag, refusal.reason]
    case .success(let request):
      guard request.data.isEmpty else { return [0xFF, Refusal.blockList] }
      return [0x00, 0x00, UInt8(truncatingIfNeeded: request.blocks.count)]
        + request.blocks.flatMap { system.blocks[$0] ?? [] }
    }
  }

  private func update(_ system: inout FeliCaSystem, _ parameters: [UInt8]) -> [UInt8] {
    switch request(system, parameters, most: min(system.maximumWrite, 13), isWriting: true) {
    case .failure(let refusal): return [refusal.flag, refusal.reason]
    case .success(let request):
      guard request.data.count == request.blocks.count * 16 else { return [0xFF, Refusal.blockList] }
      for (index, block) in request.blocks.enumerated() {
        system.blocks[block] = Array(request.data[(index * 16)..<(index * 16 + 16)])
      }
      return [0x00, 0x00]
    }
  }

  private struct Request {
    let blocks: [Int]
    /// What stands behind the block list.
    let data: [UInt8]
  }

  private struct RefusedRequest: Error {
    /// FF, or the bit of the first element of the block list that is wrong.
    let flag: UInt8
    let reason: UInt8
  }

  /// One service and a block list of elements of two or three bytes.
  private func request(
    _ system: FeliCaSystem, _ parameters: [UInt8], most: Int, isWriting: Bool
  ) -> Result<Request, RefusedRequest> {
    func refuse(_ reason: UInt8, at index: Int? = nil) -> Result<Request, RefusedRequest> {
      .failure(RefusedRequest(flag: index.map { 1 << UInt8($0 % 8) } ?? 0xFF, reason: reason))
    }
    guard parameters.count >= 4, parameters[0] == 1 else { return refuse(Refusal.serviceCount) }
    guard let service = system.services[Int(parameters[1]) | Int(parameters[2]) << 8],
      !isWriting || service == .readWrite
    else { return refuse(Refusal.serviceCode) }
    let count = Int(parameters[3])
    guard (1...max(1, most)).contains(count) else { return refuse(Refusal.blockCount) }
    var rest = parameters[4...]
    var blocks: [Int] = []
    for index in 0..<count {
      guard let first = rest.popFirst(), first & 0x7F == 0, let low = rest.popFirst() else {
        return refuse(Refusal.blockList, at: index)
      }
      var block = Int(low)
      if first & 0x80 == 0 {
        guard let high = rest.popFirst() else { return refuse(Refusal.blockList, at: index) }
        block |= Int(high) << 8
      }
      guard system.blocks[block] != nil, !isWriting || system.mayWrite(block) else {
        return refuse(Refusal.blockNumber, at: index)
      }
      blocks.append(block)
    }
    return .success(Request(blocks: blocks, data: Array(rest)))
  }
}

/// One of the systems of a FeliCa card.
struct FeliCaSystem: Sendable {
  /// What a service lets everybody do.
  enum Access: Sendable {
    case readOnly
    case readWrite
  }

  /// NFC Forum Type 3 Tag.
  static let ndefCode: [UInt8] = [0x12, 0xFC]
  /// The services of a Type 3 tag by their codes: one that reads, and one that reads and writes.
  static let ndefServices: [Int: Access] = [0x000B: .readOnly, 0x0009: .readWrite]
  /// FeliCa Lite's memory configuration block.
  static let memoryConfiguration = 0x88

  /// What it answers to. A FeliCa Lite has two codes for one system.
  let codes: [[UInt8]]
  let idm: [UInt8]
  var services: [Int: Access]
  /// By their numbers, 16 bytes each.
  var blocks: [Int: [UInt8]]
  /// How many blocks one command reads, and writes.
  var maximumRead: Int
  var maximumWrite: Int
  /// FeliCa Lite: a block of its memory says what may be written.
  var isLite = false

  /// Whether the memory configuration of a FeliCa Lite lets the block be written (FeliCa Lite-S User's Manual, 3.3.10):
  /// a bit for each of the first 14 blocks and REG, and one byte for the configuration itself and the keys.
  func mayWrite(_ block: Int) -> Bool {
    guard isLite, let configuration = blocks[Self.memoryConfiguration] else { return true }
    if block < 15 { return (Int(configuration[0]) | Int(configuration[1]) << 8) >> block & 1 == 1 }
    return block == Self.memoryConfiguration && configuration[2] == 0xFF
  }
}
