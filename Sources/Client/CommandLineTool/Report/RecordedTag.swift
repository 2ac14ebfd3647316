import Names

/// Redacts the data of the tag that a part of a trace is about.
struct RecordedTag {
  /// The fewest bytes that are recognised as a part of the message, unless it is expected.
  private static let shortestPart = 4
  /// The most bytes of an answer that may come before a part of the message.
  private static let longestHeader = 20
  private static let blockSize = 16

  private let tap: TraceLine.Tap?
  /// Of the tap. Nil if it has none.
  private let message: [UInt8]?
  private let redacted: [UInt8]
  /// Where the next part of the message is expected.
  private var next = 0
  private var isSelected = true
  /// Whether the capability container of a Type 4 tag is selected (NFC Forum Type 4 Tag, 5.1).
  private var isContainerSelected = false

  private static let container: [UInt8] = [0xE1, 0x03]
  /// For a request of ISO/IEC 15693 without its flags, behind the length.
  private static let standardRequest: [UInt8] = [0xFF, 0xFB, 0x00, 0x00]

  init(_ tap: TraceLine.Tap? = nil) {
    self.tap = tap
    message = tap?.message
    redacted = message.map(MessageRedaction.redact) ?? []
  }

  /// The reader has found tags. Another tag has another message.
  mutating func select(_ identifiers: [[UInt8]]) {
    guard !identifiers.isEmpty else { return }
    // Some readers report the UID of a Type 5 tag with its last byte first.
    isSelected = identifiers.contains { $0 == tap?.uid || $0.reversed() == tap?.uid }
  }

  /// `data` is the answer to a command of a tag, without what belongs to the reader. `hasIdentifier`: whether a known
  /// identifier is in the data.
  mutating func redact(_ data: [UInt8], to command: [UInt8], hasIdentifier: Bool) -> [UInt8] {
    if command.starts(with: [0x00, 0xA4]) { isContainerSelected = command.firstRange(of: Self.container) != nil }
    var result = [UInt8](repeating: 0, count: data.count)
    let structure = structure(of: data, command, hasIdentifier)
    result.replaceSubrange(..<structure.kept, with: data[..<structure.kept])
    guard let message, isSelected, structure.end < data.count else { return result }
    let start = structure.end
    if let end = headerEnd(data, start, command, message.count) {
      result.replaceSubrange(start..<end, with: data[start..<end])
      next = 0
      _ = putPart(of: data, at: end, &result)
    } else if !putPart(of: data, at: start, &result) {
      for start in (start..<data.count).prefix(Self.longestHeader) {
        guard let part = Self.longestRun(of: message, in: data, at: start) else { continue }
        result.replaceSubrange(start..<start + part.count, with: redacted[part])
        next = part.upperBound
        break
      }
    }
    return result
  }

  /// Replaces the expected part of the message, if all of it is there.
  private mutating func putPart(of data: [UInt8], at start: Int, _ result: inout [UInt8]) -> Bool {
    guard let message else { return false }
    let count = zip(message[next...], data[start...]).prefix { $0 == $1 }.count
    guard count > 0, count == min(message.count - next, data.count - start) else { return false }
    result.replaceSubrange(start..<start + count, with: redacted[next..<next + count])
    next += count
    return true
  }

  /// The part of `message` that begins at `start` of `data`; nil if it is too short.
  private static func longestRun(of message: [UInt8], in data: [UInt8], at start: Int) -> Range<Int>? {
    var best: Range<Int>?
    for offset in message.indices where message[offset] == data[start] {
      let count = zip(message[offset...], data[start...]).prefix { $0 == $1 }.count
      if count >= max(shortestPart, (best?.count ?? 0) + 1) { best = offset..<offset + count }
    }
    return best
  }

  // MARK: Structure

  /// The end of the bytes that are kept because they describe the tag itself, and where its memory for messages may
  /// begin.
  private func structure(of data: [UInt8], _ command: [UInt8], _ hasIdentifier: Bool) -> (kept: Int, end: Int) {
    func keep(_ count: Int) -> (kept: Int, end: Int) { (min(count, data.count), min(count, data.count)) }
    let none = (kept: 0, end: 0)
    switch command {
    // The version of a chip (NTAG213 data sheet, 10.1).
    case [0x60]: return keep(8)
    // Pages 0 to 3 of Type 2.
    case [0x30, 0x00] where hasIdentifier: return keep(Self.blockSize)
    case _ where command.starts(with: [0xFF, 0xB0, 0x00, 0x00]) && hasIdentifier: return keep(Self.blockSize)
    // The directory of a MIFARE Classic (NXP AN10787).
    case [0x30, 0x01], [0x30, 0x02], [0xFF, 0xB0, 0x00, 0x01, 0x10], [0xFF, 0xB0, 0x00, 0x02, 0x10]:
      return tap?.type == "mifare-classic" && isSelected ? keep(Self.blockSize) : none
    // RALL: the header ROM, and block 0 with all seven bytes of the UID, of which the reader reports four.
    case [0x00], [0xFF, 0x52, 0x00, 0x00, 0x00]: return data.count > 14 ? (kept: 2, end: 10) : none
    // RID.
    case [0x78], [0xFF, 0x50, 0x00, 0x00, 0x00]: return hasIdentifier ? keep(6) : none
    // What an ACR122U answers itself, such as its firmware (ACR122U API 2.04, 6).
    case _ where command.count > 2 && command.starts(with: [0xFF, 0x00]) && command[2] >= 0x40: return keep(data.count)
    // The description of a Type 5 tag, from an ACR1552U.
    case _ where command.starts(with: Self.standardRequest) && command.dropFirst(5).first == 0x2B:
      return hasIdentifier ? keep(data.count) : none
    case _ where command.first == 0xFF: return none
    // FeliCa: polling, whose command has five bytes behind its length.
    case _ where command.count == 6 && command.starts(with: [0x06, 0x00]): return hasIdentifier ? keep(20) : none
    case _ where Self.isCheck(command):
      let header = Self.checkHeader(data)
      guard hasIdentifier, data.count >= header else { return none }
      // The attribute information block (NFC Forum Type 3 Tag, 6.1).
      return keep(header + (command[14...15] == [0x80, 0x00] ? Self.blockSize : 0))
    // Type 5: the flags come before a block, and before the description of the tag (ISO/IEC 15693-3, 10.4.1).
    case _ where Self.isType5(command, [0x20, 0x23, 0x30, 0x33]): return keep(1)
    case _ where Self.isType5(command, [0x2B, 0x3B]): return hasIdentifier ? keep(data.count) : none
    case _ where command.starts(with: [0x00, 0xA4]): return keep(Self.longestHeader)
    case _ where command.starts(with: [0x00, 0xB0]): return isContainerSelected ? keep(32) : none
    default: return none
    }
  }

  /// To the only tag, with flags for a high data rate, and perhaps the option.
  private static func isType5(_ command: [UInt8], _ codes: Set<UInt8>) -> Bool {
    command.count > 1 && (command[0] == 0x02 || command[0] == 0x42) && codes.contains(command[1])
  }

  /// Whether the command reads the block with the capability container: the first of Type 5, page 3 of Type 2.
  private static func readsContainer(_ command: [UInt8]) -> Bool {
    if command.starts(with: standardRequest) {
      return command.count > 6 && (command[5] == 0x20 || command[5] == 0x23) && command[6] == 0x00
    }
    return command.starts(with: [0xFF, 0xB0, 0x00, 0x00]) || command.starts(with: [0xFF, 0xB0, 0x00, 0x03])
      || isType5(command, [0x20, 0x23]) && command.count > 2 && command[2] == 0x00
  }

  /// Read Without Encryption of one service: its length, 06, IDm, 01, the service, and the list of blocks.
  private static func isCheck(_ command: [UInt8]) -> Bool {
    command.count >= 16 && Int(command[0]) == command.count && command[1] == 0x06 && command[10] == 0x01
  }

  /// The length, 07, IDm, two status flags, and the number of blocks.
  private static func checkHeader(_ data: [UInt8]) -> Int { data.first.map(Int.init) == data.count ? 13 : 12 }

  // MARK: The beginning of the memory for messages

  /// The end of what comes before a message of this length; nil if something else is there.
  private func headerEnd(_ data: [UInt8], _ start: Int, _ command: [UInt8], _ length: Int) -> Int? {
    if command.starts(with: [0x00, 0xB0]) {
      // NLEN, at the beginning of the file (NFC Forum Type 4 Tag, 5.1).
      guard !isContainerSelected, command.count > 4, command[2...3] == [0x00, 0x00] else { return nil }
      return [2, 4].first { size in
        data.count >= size && data[..<size].reduce(0) { $0 << 8 | Int($1) } == length
      }
    }
    if Self.isCheck(command) { return nil }
    var index = start
    // A capability container has four bytes, or eight if the size is not in the third.
    if data[index] == 0xE1 || data[index] == 0xE2, data.count >= index + 4 {
      index += data[index + 2] == 0 && data.count >= index + 8 ? 8 : 4
      if index == data.count { return Self.readsContainer(command) ? index : nil }
    }
    while index < data.count {
      switch data[index] {
      case 0x00: index += 1
      // Lock control and memory control (NFC Forum Type 2 Tag, 2.3).
      case 0x01, 0x02:
        guard index + 5 <= data.count, data[index + 1] == 3 else { return nil }
        index += 5
      case 0x03:
        let rest = data[(index + 1)...]
        if rest.first == 0xFF {
          return rest.count >= 3 && Int(rest[index + 2]) << 8 | Int(rest[index + 3]) == length ? index + 4 : nil
        }
        return rest.first.map(Int.init) == length ? index + 2 : nil
      default: return nil
      }
    }
    return nil
  }
}
