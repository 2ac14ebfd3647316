import Names

/// Where an exchange with a reader has what a tag gets and answers.
enum TagExchange {
  /// A command to a tag, without what the chip or the reader needs, and the place of the answer's data.
  case tag(command: [UInt8], data: Range<Int>)
  /// The chip's answer to InListPassiveTarget.
  case targets([Target])
  /// Registers of the chip: the places of bytes for a tag in the command, and of bytes of a tag in the answer.
  case registers(command: [Int], answer: [Int])
  /// The reader reports the identifier of the tag.
  case identifier(Range<Int>)
  case answerToSelect(Range<Int>)
  case answerToReset
  /// The serial number of the reader.
  case serialNumber
  /// The reader itself answers.
  case reader

  struct Target {
    let identifier: Range<Int>
    /// Without the first, which is the category (ISO/IEC 7816-4, 8.1.1).
    var historicalBytes: Range<Int>
  }

  /// The attributes of pcscd (reader.h).
  private static let serialNumberAttribute: UInt32 = 0x1_0103
  private static let answerToResetAttribute: UInt32 = 0x9_0303

  init(_ exchange: TraceLine.Exchange) {
    let (command, answer) = (exchange.command, exchange.answer ?? [])
    switch exchange.call {
    case nil: self = Self.chip(command, 0..<command.count, answer, 0..<answer.count)
    case .transmit: self = Self.card(command, answer)
    case .attribute where exchange.code == Self.serialNumberAttribute: self = .serialNumber
    case .attribute where exchange.code == Self.answerToResetAttribute: self = .answerToReset
    case .attribute, .connect, .control, .reset, .disconnect, .connectReader: self = .reader
    }
  }

  /// For pcscd. The last two bytes of the answer are a status word.
  private static func card(_ command: [UInt8], _ answer: [UInt8]) -> TagExchange {
    let data = 0..<max(answer.count - 2, 0)
    switch command.prefix(4) {
    case [0xFF, 0xCA, 0x00, 0x00]: return .identifier(data)
    case _ where command.starts(with: [0xFF, 0xCA]): return .answerToSelect(data)
    case [0xFF, 0x00, 0x00, 0x00] where command.count > 5:
      let end = min(5 + Int(command[4]), command.count)
      // The chip of an ACR122U (ACR122U API 2.04, 4.2).
      if end > 6, command[5] == 0xD4, answer.first == 0xD5, data.count >= 2 {
        return chip(command, 6..<end, answer, 2..<data.upperBound)
      }
      return .tag(command: Array(command[5..<end]), data: data)
    // A transparent session begins, ends or gets its protocol, and the answer is only the reader's status (PC/SC part 3,
    // supplement).
    case [0xFF, 0xC2, 0x00, 0x00] where answer.count == 7 && answer.starts(with: [0xC0, 0x03]),
      [0xFF, 0xC2, 0x00, 0x02] where answer.count == 7 && answer.starts(with: [0xC0, 0x03]):
      return .reader
    case [0xFF, 0xC2, 0x00, 0x01] where command.count > 5:
      // A frame in such a session.
      guard let frame = object(0x95, in: command, 5..<command.count), let response = object(0x97, in: answer, data)
      else { return .tag(command: [], data: object(0xC0, in: answer, data) == nil ? data : 0..<0) }
      return .tag(command: Array(command[frame]), data: response)
    default: return .tag(command: command, data: data)
    }
  }

  /// The value of a data object with a tag of one byte (ISO/IEC 8825-1).
  private static func object(_ tag: UInt8, in bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
    var index = range.lowerBound
    while index + 1 < range.upperBound {
      let found = bytes[index]
      index += found & 0x1F == 0x1F ? 2 : 1
      guard index < range.upperBound else { return nil }
      var length = Int(bytes[index])
      index += 1
      if length == 0x81, index < range.upperBound {
        length = Int(bytes[index])
        index += 1
      }
      guard index + length <= range.upperBound else { return nil }
      if found == tag { return index..<index + length }
      index += length
    }
    return nil
  }

  /// For a PN53x (UM0701-02, 7). The command is without `D4`, the answer without `D5` and its code.
  private static func chip(
    _ command: [UInt8], _ place: Range<Int>, _ answer: [UInt8], _ data: Range<Int>
  ) -> TagExchange {
    let parameters = command[place].dropFirst()
    switch command[place].first {
    // InDataExchange with the number of the target, InCommunicateThru. The first byte of the answer is the status.
    case 0x40: return tag(Array(parameters.dropFirst()), data.dropFirst())
    case 0x42: return tag(Array(parameters), data.dropFirst())
    case 0x4A: return .targets(targets(in: answer, data, modulation: parameters.dropFirst().first))
    // ReadRegister: addresses of two bytes, and a value for each; a PN533 has a status before them.
    case 0x06:
      let values = data.suffix(parameters.count / 2)
      return .registers(
        command: [],
        answer: zip(stride(from: parameters.startIndex, to: place.upperBound - 1, by: 2), values).compactMap {
          isFIFO(command, $0) ? $1 : nil
        })
    // WriteRegister: addresses, each with its value. The first two bytes for a tag are a command and a block.
    case 0x08:
      let values = stride(from: parameters.startIndex, to: place.upperBound - 2, by: 3).compactMap {
        isFIFO(command, $0) ? $0 + 2 : nil
      }
      return .registers(command: Array(values.dropFirst(2)), answer: [])
    default: return .reader
    }
  }

  /// The register through which the chip's host sends bytes to a tag and gets its answer (UM0701-02, 8.2.5).
  private static func isFIFO(_ command: [UInt8], _ index: Int) -> Bool {
    command[index] == 0x63 && command[index + 1] == 0x39
  }

  /// An answer to an APDU ends with a status word. No other command that Tagroute sends has these beginnings and four
  /// bytes.
  private static func tag(_ command: [UInt8], _ data: Range<Int>) -> TagExchange {
    let isAPDU = command.count >= 4 && (command[0] == 0x00 || command[0] == 0x90)
    return .tag(command: command, data: isAPDU ? data.dropLast(2) : data)
  }

  // MARK: Targets

  /// UM0701-02, 7.3.5: the number of targets, then for each its number and the data of its technology.
  private static func targets(in answer: [UInt8], _ range: Range<Int>, modulation: UInt8?) -> [Target] {
    guard let count = answer[range].first else { return [] }
    var targets: [Target] = []
    var rest = range.dropFirst()
    while targets.count < count, rest.count > 1 {
      let fields = rest.dropFirst()
      let target: (Target, end: Int)?
      switch modulation {
      case 0x00: target = typeA(answer, fields)
      case 0x03: target = typeB(answer, fields)
      // The length and the code of the answer to polling come before the IDm.
      case 0x01, 0x02: target = plain(fields, 2, 8)
      case 0x04: target = plain(fields, 2, 4)
      default: target = nil
      }
      guard let target else { break }
      targets.append(target.0)
      rest = target.end..<range.upperBound
    }
    // Of the last target, all that follows belongs to it.
    if rest.count > 0, let last = targets.last, !last.historicalBytes.isEmpty {
      targets[targets.count - 1].historicalBytes = last.historicalBytes.lowerBound..<range.upperBound
    }
    return targets
  }

  private static func plain(_ fields: Range<Int>, _ offset: Int, _ count: Int) -> (Target, end: Int)? {
    guard fields.count >= offset + count else { return nil }
    let start = fields.lowerBound + offset
    return (Target(identifier: start..<start + count, historicalBytes: 0..<0), fields.upperBound)
  }

  /// ATQA, SAK, UID with its length, and an ATS if the SAK announces one.
  private static func typeA(_ answer: [UInt8], _ fields: Range<Int>) -> (Target, end: Int)? {
    let start = fields.lowerBound
    guard fields.count >= 4, case let length = Int(answer[start + 3]), fields.count >= 4 + length else { return nil }
    var end = start + 4 + length
    var target = Target(identifier: start + 4..<end, historicalBytes: 0..<0)
    if answer[start + 2] & 0x20 != 0, end < fields.upperBound {
      let answerToSelect = end..<min(end + max(1, Int(answer[end])), fields.upperBound)
      target.historicalBytes = HistoricalBytes.range(inAnswerToSelect: answer, answerToSelect)
      end = answerToSelect.upperBound
    }
    return (target, end)
  }

  /// 50, PUPI, application data, protocol info, and the answer to ATTRIB with its length.
  private static func typeB(_ answer: [UInt8], _ fields: Range<Int>) -> (Target, end: Int)? {
    let start = fields.lowerBound
    guard fields.count >= 13 else { return nil }
    let end = min(start + 13 + Int(answer[start + 12]), fields.upperBound)
    return (Target(identifier: start + 1..<start + 5, historicalBytes: min(start + 14, end)..<end), end)
  }
}

/// The bytes of a card's own choice in its answer to reset or to select. Some cards have a number of their own there.
enum HistoricalBytes {
  /// The beginning of the form for memory cards, and what follows of use: the standard and the name of the card (PC/SC
  /// part 3, supplement, 3.1.3.2.3).
  private static let memoryCard: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
  private static let memoryCardSize = 11

  /// Without the category. ISO/IEC 14443-4, 5.2: TL, T0, which announces TA, TB and TC, then the historical bytes.
  static func range(inAnswerToSelect bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    guard range.count > 1 else { return 0..<0 }
    let start = range.lowerBound + 3 + (bytes[range.lowerBound + 1] & 0x70).nonzeroBitCount
    return min(start, range.upperBound)..<range.upperBound
  }

  /// With zeros, and a check byte that fits.
  static func redact(answerToReset bytes: [UInt8]) -> [UInt8] {
    guard bytes.count > 1 else { return bytes }
    // ISO/IEC 7816-3, 8.2: T0 and each TD announce the next interface bytes.
    var start = 2
    var announced = bytes[1] >> 4
    while announced != 0 {
      start += announced.nonzeroBitCount
      guard announced & 0x08 != 0, start <= bytes.count else { break }
      announced = bytes[start - 1] >> 4
    }
    let end = min(start + Int(bytes[1] & 0x0F), bytes.count)
    guard start < end else { return bytes }
    var result = bytes
    for index in zeros(bytes[start..<end]) { result[index] = 0 }
    if end == bytes.count - 1, bytes.dropFirst().reduce(0, ^) == 0 { result[end] = result[1..<end].reduce(0, ^) }
    return result
  }

  private static func zeros(_ bytes: ArraySlice<UInt8>) -> Range<Int> {
    if bytes.starts(with: memoryCard) { return bytes.indices.dropFirst(memoryCardSize) }
    // Of a card of Type B, the reader puts the protocol info there, which it needs to be recognised.
    if bytes.count == 8 { return bytes.indices.prefix(4) }
    return bytes.indices.dropFirst()
  }
}
