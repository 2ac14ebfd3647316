import Testing

@testable import Tags

/// A Type 5 tag that answers like an ICODE, and the reader between it and the program.
struct Type5Memory: TagChannel {
  let blockSize: Int
  var bytes: [UInt8]
  var locked: Set<Int> = []
  /// The codes of the commands that the tag answers with an error, and those that it does not answer. For a command
  /// with two forms, the code of the shorter form.
  var unknown: Set<UInt8> = []
  var unanswered: Set<UInt8> = []
  /// The codes of the commands that the reader cannot send.
  var unsendable: Set<UInt8> = []
  /// Whether a command reads at most 32 blocks, and none beyond a multiple of 32.
  var hasSectors = false
  /// Whether a write or lock command needs the option flag.
  var isSpecial = false
  /// Whether the tag is silent instead of reporting an error if a block does not exist.
  var isSilentBehindItsEnd = false
  private(set) var commands: [[UInt8]] = []

  /// `data` follows the capability container. The tag has `size` bytes, by default those of container and data area.
  init(_ data: [UInt8], _ container: [UInt8], blockSize: Int = 4, size: Int? = nil) {
    self.blockSize = blockSize
    let dataSize = container.count == 8 ? Int(container[6]) << 8 | Int(container[7]) : Int(container[2])
    let whole = (size ?? container.count + dataSize * 8) / blockSize * blockSize
    bytes = container + data
    bytes += [UInt8](repeating: 0, count: max(0, whole - bytes.count))
  }

  /// The codes of the commands so far.
  var codes: [UInt8] { commands.map { $0[1] } }
  /// The commands so far that change the tag.
  var writes: [[UInt8]] { commands.filter { [0x21, 0x22].contains($0[1] & 0xEF) } }

  mutating func forget() { commands = [] }

  func canSend(_ command: [UInt8]) -> Bool { !unsendable.contains(command[1]) }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard canSend(command) else {
      Issue.record("the reader cannot send \(command)")
      throw TagChannelError(.unsupported, "the reader cannot send it")
    }
    commands.append(command)
    let answer = try self.answer(command)
    #expect(answer.count <= ExchangeLimit.answer && command.count <= ExchangeLimit.command)
    return answer
  }

  private mutating func answer(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let code = command[1] & 0xEF
    if unanswered.contains(code) { throw TagChannelError(.noAnswer, "silence") }
    let changes = code == 0x21 || code == 0x22
    guard !unknown.contains(code), command[0] == (changes && isSpecial ? 0x42 : 0x02) else { return [0x01, 0x01] }
    let width = command[1] & 0x10 == 0 ? 1 : 2
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    let block = number(command[2..<2 + width])
    let rest = command[(2 + width)...]
    let count = code == 0x23 || code == 0x2C ? number(rest) + 1 : 1
    guard (block + count) * blockSize <= bytes.count else {
      if isSilentBehindItsEnd { throw TagChannelError(.noAnswer, "silence") }
      return [0x01, 0x10]
    }
    let place = block * blockSize..<(block + count) * blockSize
    switch code {
    case 0x20: return [0x00] + bytes[place]
    case 0x23:
      guard !hasSectors || block / 32 == (block + count - 1) / 32 else { return [0x01, 0x0F] }
      return [0x00] + bytes[place]
    case 0x2C: return [0x00] + (block..<block + count).map { locked.contains($0) ? 0x01 : 0x00 }
    case 0x21:
      guard !locked.contains(block), rest.count == blockSize else { return [0x01, 0x12] }
      bytes.replaceSubrange(place, with: rest)
      return [0x00]
    case 0x22: return locked.insert(block).inserted ? [0x00] : [0x01, 0x11]
    default: return [0x01, 0x01]
    }
  }
}

extension Type5Memory {
  /// A tag with a message in its data area.
  init(message: [UInt8], _ container: [UInt8], blockSize: Int = 4, size: Int? = nil) {
    self.init(tlv(message), container, blockSize: blockSize, size: size)
  }
}
