import ReaderModels
import Tags

/// How FF B0 reads one block of a Type 5 tag.
struct Type5Block: Hashable {
  /// Le.
  let expected: UInt8
  let size: Int
}

/// Type 5. Some readers pass on requests, others only read and write blocks.
extension CardLink {
  private static var mostBlock: Int { 32 }
  private static var leastBlock: UInt8 { 4 }
  /// The sizes of the blocks of tags on sale.
  private static var usualBlocks: [UInt8] { [leastBlock, 8] }
  /// A write with the option flag takes 20 ms.
  private static var time: UInt32 { 100_000 }
  /// The codes that the readers know: single blocks, several blocks, system information, security status.
  private static var standardCodes: Set<UInt8> { [0x20, 0x21, 0x22, 0x23, 0x2B, 0x2C] }
  private static var codesWithData: Set<UInt8> { [0x20, 0x23, 0x2B, 0x2C] }
  private static var success: UInt8 { 0x00 }

  mutating func exchangeType5(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    switch model.type5 {
    case .none: break
    case .blocks(let lock):
      if let request = Type5Request(command) { return [Self.success] + (try exchangeBlock(request, lock)) }
    case .acr1552: return try exchangeRequest(command)
    case .identiv:
      guard Self.isStandard(command) else { return try fetch(PseudoAPDU(0xFD, 0x06, 0x01, data: command, expected: 0)) }
      return [Self.success] + (try fetch(Self.standard(0xFC, command)))
    }
    throw TagChannelError(.unsupported, "this reader does not pass on this request")
  }

  private static func isStandard(_ command: [UInt8]) -> Bool {
    command.count >= 2 && command[0] == 0x02 && standardCodes.contains(command[1])
  }

  /// Code and parameters. The reader adds the flags, and removes them from the answer.
  private static func standard(_ instruction: UInt8, _ command: [UInt8]) -> PseudoAPDU {
    PseudoAPDU(
      instruction, data: Array(command.dropFirst()), expected: codesWithData.contains(command[1]) ? 0 : nil)
  }

  /// ACR1552U: FF FB for the codes that the reader knows, and a transparent session for all others. If FF FB is refused
  /// before it ever succeeded, everything goes through a session.
  private mutating func exchangeRequest(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    var isOpen = false
    if case .open = transparentSession { isOpen = true }
    if !isOpen, Self.isStandard(command), passesRequestsOn != false {
      do throws(TagChannelError) {
        let data = try fetch(Self.standard(0xFB, command))
        passesRequestsOn = true
        return [Self.success] + data
      } catch {
        guard passesRequestsOn == nil, failure?.endsConnection != true else { throw error }
        passesRequestsOn = false
      }
    }
    return try transceive(command, .iso15693, within: Self.time)
  }

  // MARK: Blocks

  private mutating func exchangeBlock(
    _ request: Type5Request, _ lock: ReaderModel.Type5Access.Lock
  ) throws(TagChannelError) -> [UInt8] {
    let (high, low) = (UInt8(truncatingIfNeeded: request.block >> 8), UInt8(truncatingIfNeeded: request.block))
    switch (request.kind, lock) {
    case (.read, _): return try readBlock(request.block)
    case (.write(let data), _): try fetch(.update(request.block, data))
    case (.lock, .partThree): try fetch(PseudoAPDU(0x30, 0x00, 0x02, data: [0x01, 0x00, 0x00, high, low]))
    case (.lock, .springCard): try fetch(PseudoAPDU(0xF6, 0x22, data: [low]))
    }
    return []
  }

  /// An Le of 0 asks for a whole block, which shows its size. HID's and SpringCard's programs do that.
  private mutating func readBlock(_ block: Int) throws(TagChannelError) -> [UInt8] {
    if let known = type5Block {
      let data = try fetch(.read(block, known.expected))
      guard data.count >= known.size else {
        throw TagChannelError(.transmission, "the reader returned \(data.count) bytes of block \(block)")
      }
      return Array(data.prefix(known.size))
    }
    let answer = try ask(.read(block, 0))
    var data = answer.data
    if answer.status.isSuccess || answer.status == .endOfData, (1...Self.mostBlock).contains(data.count) {
      type5Block = try size(of: data, from: block)
    } else {
      data = try fetch(.read(block, Self.leastBlock))
      guard (1...Self.mostBlock).contains(data.count) else {
        throw TagChannelError(.transmission, "the reader returned \(data.count) bytes of block \(block)")
      }
      type5Block = Type5Block(expected: UInt8(truncatingIfNeeded: data.count), size: data.count)
    }
    return Array(data.prefix(type5Block?.size ?? data.count))
  }

  /// A reader may return several blocks for an Le of 0, its answer `data`. If so, the first bytes are one block of a
  /// usual size, and the next block follows them.
  private mutating func size(of data: [UInt8], from block: Int) throws(TagChannelError) -> Type5Block {
    for size in Self.usualBlocks {
      if try areBlocks(of: size, data, from: block) { return Type5Block(expected: size, size: Int(size)) }
    }
    return Type5Block(expected: 0, size: data.count)
  }

  /// Two blocks of this size or more.
  private mutating func areBlocks(
    of expected: UInt8, _ data: [UInt8], from block: Int
  ) throws(TagChannelError) -> Bool {
    let size = Int(expected)
    guard data.count >= 2 * size else { return false }
    for next in 0..<2 {
      let part = try transmit(PseudoAPDU.read(block + next, expected).bytes)
      guard part.status.isSuccess, part.data == Array(data[next * size..<(next + 1) * size]) else { return false }
    }
    return true
  }
}

/// A request for a single block that FF B0 and FF D6 replace.
struct Type5Request {
  enum Kind {
    case read
    case write([UInt8])
    case lock
  }

  let kind: Kind
  let block: Int

  /// Nil for any other request. With the option flag, the reader itself knows what the tag needs.
  init?(_ command: [UInt8]) {
    guard command.count >= 3, command[0] == 0x02 || command[0] == 0x42 else { return nil }
    let isExtended = command[1] & 0x10 != 0
    guard !isExtended || command.count >= 4 else { return nil }
    block = isExtended ? Int(command[2]) | Int(command[3]) << 8 : Int(command[2])
    let rest = Array(command.dropFirst(isExtended ? 4 : 3))
    switch (command[1] & ~0x10, rest.isEmpty) {
    case (0x20, true) where command[0] == 0x02: kind = .read
    case (0x21, false): kind = .write(rest)
    case (0x22, true): kind = .lock
    default: return nil
    }
  }
}
