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
    guard let request = Request(parameters), request.data.isEmpty else { return nil }
    if let refusal = refusal(request, most: min(maximumRead, 15), isWriting: false) { return refusal.flags }
    return [0x00, 0x00, UInt8(truncatingIfNeeded: request.elements.count)]
      + request.elements.flatMap { blocks[$0.block] ?? [] }
  }

  /// WRITE WITHOUT ENCRYPTION: writes either all blocks or none. The parameters are the bytes after the identifier.
  /// Returns status flags; nil if the packet has the wrong length.
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

/// The parameters of READ and WRITE WITHOUT ENCRYPTION, after the identifier.
private struct Request {
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
