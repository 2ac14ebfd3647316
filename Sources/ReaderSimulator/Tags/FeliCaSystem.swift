/// One of the systems of a FeliCa card: blocks behind services that need no key.
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

  /// What it answers to. A FeliCa Lite has two codes for one system.
  let codes: [[UInt8]]
  var idm: [UInt8]
  let services: [Int: Access]
  /// By their numbers, 16 bytes each.
  var blocks: [Int: [UInt8]]
  /// How many blocks one command reads, and writes.
  let maximumRead: Int
  let maximumWrite: Int
  /// FeliCa Lite: few commands, and a block of its memory says what may be written.
  var isLite = false
  /// How far what is written now gets, over all blocks of a command.
  var writeTear: WriteTear?

  /// Request Service: which of some areas and services there are.
  ///
  /// - Parameter parameters: what follows the identifier.
  /// - Returns: the number of them, and of each the version of its key, FFFF where it is not there; nil where the packet is not of the
  ///   length that it says.
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

  /// READ WITHOUT ENCRYPTION.
  ///
  /// - Parameter parameters: what follows the identifier.
  /// - Returns: status flags, and where they are zero the number of blocks and the blocks; nil where the packet is not of the
  ///   length that it says, which no card answers.
  func check(_ parameters: [UInt8]) -> [UInt8]? {
    guard let request = Request(parameters), request.data.isEmpty else { return nil }
    if let refusal = refusal(request, most: min(maximumRead, 15), isWriting: false) { return refusal.flags }
    return [0x00, 0x00, UInt8(truncatingIfNeeded: request.elements.count)]
      + request.elements.flatMap { blocks[$0.block] ?? [] }
  }

  /// WRITE WITHOUT ENCRYPTION: all of it or nothing.
  ///
  /// - Parameter parameters: what follows the identifier.
  /// - Returns: status flags; nil where the packet is not of the length that it says.
  mutating func update(_ parameters: [UInt8]) -> [UInt8]? {
    guard let request = Request(parameters), request.data.count == request.elements.count * 16 else { return nil }
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
    // Secrets, which read as zero.
    case 0x80 where isLite, 0x87 where isLite: break
    case LiteMemoryConfiguration.block where isLite:
      blocks[block] = blocks[block].map { LiteMemoryConfiguration(bytes: $0).updated(data).bytes }
    default: blocks[block] = data
    }
  }

  // MARK: What is refused

  /// Status flags (FeliCa Card User's Manual, "Status Flag"; FeliCa Lite-S User's Manual for those of a Lite).
  private struct Refusal {
    static let serviceCount: UInt8 = 0xA1
    static let blockCount: UInt8 = 0xA2
    static let serviceOrder: UInt8 = 0xA3
    static let service: UInt8 = 0xA6
    static let accessMode: UInt8 = 0xA7
    static let blockNumber: UInt8 = 0xA8

    let reason: UInt8
    /// Which element is wrong, nil where it is none of them.
    var element: Int?

    /// The first is FF, or has the bit of the element that is wrong.
    var flags: [UInt8] { [element.map { 1 << UInt8($0 % 8) } ?? 0xFF, reason] }
  }

  private func refusal(_ request: Request, most: Int, isWriting: Bool) -> Refusal? {
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

/// The parameters of READ and WRITE WITHOUT ENCRYPTION behind the identifier.
private struct Request {
  /// An element of the block list: two bytes, or three for block numbers beyond 255.
  struct Element {
    /// Which of the services.
    let service: Int
    /// 0 is all that services without keys have.
    let accessMode: UInt8
    let block: Int
  }

  /// Codes, in their order.
  let services: [Int]
  let elements: [Element]
  /// What stands behind the block list.
  let data: [UInt8]

  /// - Returns: nil where the packet is cut off.
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
