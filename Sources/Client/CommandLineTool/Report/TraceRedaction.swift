import NDEF
import Names

/// Replaces the identifiers of tags in a trace, and what is stored on them.
///
/// Structure stays as far as it is known to be structure: commands, lengths, status bytes, the capability container, the
/// form of the message. The message of a tap becomes one of the same form, so a redacted trace can be replayed. All other
/// data of tags become zeros. So do the bytes of reader sessions, which any program may have sent.
struct TraceRedaction {
  /// As they are on the tags, each with the one that replaces it.
  private let substitutes: [[UInt8]: [UInt8]]
  /// Links and texts of the tags, without the beginning of a link that a code stands for.
  let contents: [String]

  var identifiers: [[UInt8]] { Array(substitutes.keys) }

  /// The fewest bytes that are recognised as a part of an identifier or of a message.
  private static let shortest = 4
  /// The most bytes of an answer that may come before a part of the message: the header of FeliCa, or the beginning of
  /// the memory of Type 1.
  private static let longestHeader = 20

  init(_ traces: [[TraceLine]]) {
    var found: [[UInt8]] = []
    for line in traces.joined() {
      switch line.event {
      case .tap(let tap): found.append(tap.uid)
      case .exchange(let exchange): found += exchange.identifiers
      default: break
      }
    }
    var made: [[UInt8]: [UInt8]] = [:]
    for identifier in found where identifier.count >= Self.shortest && made[identifier] == nil {
      made[identifier] = Self.madeUp(identifier, number: made.count + 1)
    }
    substitutes = made
    contents = []
  }

  /// Of the same length, with the manufacturer's byte: the first one, or E0 and the next at the end of a UID of ISO/IEC
  /// 15693 that is sent with the last byte first.
  private static func madeUp(_ identifier: [UInt8], number: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: identifier.count)
    result[0] = identifier[0]
    let isReversed = identifier.count == 8 && identifier[7] == 0xE0
    if isReversed { (result[0], result[6], result[7]) = (0, identifier[6], 0xE0) }
    let place = isReversed ? 5 : identifier.count - 1
    (result[place - 1], result[place]) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
    return result
  }

  func redact(_ trace: [TraceLine]) -> [TraceLine] {
    var reading = Reading()
    var result = trace
    // A tap follows the exchanges that read it.
    var next = trace.count
    for index in trace.indices.reversed() {
      guard case .tap = trace[index].event else { continue }
      apply(trace, index + 1..<next, &reading, &result)
      if case .tap(let tap) = trace[index].event { reading = Reading(tap.message) }
      result[index].event = redact(trace[index].event)
      next = index
    }
    apply(trace, 0..<next, &reading, &result)
    return result
  }

  private func apply(
    _ trace: [TraceLine], _ range: Range<Int>, _ reading: inout Reading, _ result: inout [TraceLine]
  ) {
    for index in range {
      guard case .exchange(var exchange) = trace[index].event else {
        result[index].event = redact(trace[index].event)
        continue
      }
      redact(&exchange, &reading)
      result[index].event = .exchange(exchange)
    }
  }

  private func redact(_ event: TraceLine.Event) -> TraceLine.Event {
    switch event {
    case .tap(var tap):
      tap.uid = substitutes[tap.uid] ?? [UInt8](repeating: 0, count: tap.uid.count)
      tap.message = tap.message.map(Self.redact(message:))
      return .tap(tap)
    case .slot(let word, let answer): return .slot(word, answerToReset: replaceIdentifiers(in: answer))
    default: return event
    }
  }

  private func redact(_ exchange: inout TraceLine.Exchange, _ reading: inout Reading) {
    if exchange.isOfSession {
      // The kind of command is of use.
      let kind = exchange.call == nil ? 3 : 4
      exchange.command =
        exchange.command.prefix(kind) + [UInt8](repeating: 0, count: max(exchange.command.count - kind, 0))
      exchange.answer = exchange.answer.map { [UInt8](repeating: 0, count: $0.count) }
      return
    }
    reading.note(exchange.command)
    if let answer = exchange.answer, let data = exchange.data(in: answer) {
      var bytes = answer
      let part = Array(answer[data])
      let isNamed = replaceIdentifiers(in: part) != part
      bytes.replaceSubrange(data, with: reading.redact(part, to: exchange.tagCommand, hasIdentifier: isNamed))
      exchange.answer = bytes
    }
    exchange.command = replaceIdentifiers(in: exchange.command)
    exchange.answer = exchange.answer.map(replaceIdentifiers)
  }

  /// Replaces each identifier, and each part of one that is long enough. The check byte after a part is made anew
  /// (ISO/IEC 14443-3, 6.5.3: the exclusive or of four bytes; of seven, the first four are 88 and three of them).
  private func replaceIdentifiers(in bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for (identifier, substitute) in substitutes {
      var forms = [(identifier, substitute), (identifier.reversed(), substitute.reversed())]
      if identifier.count == 7 {
        forms.append((Self.withCheckBytes(identifier), Self.withCheckBytes(substitute)))
      } else if identifier.count == 4 {
        forms.append((identifier + [identifier.reduce(0, ^)], substitute + [substitute.reduce(0, ^)]))
      }
      for (form, other) in forms.reversed() { Self.replace(form, with: other, in: &result, of: bytes) }
    }
    return result
  }

  /// As they lie in the memory of a tag.
  private static func withCheckBytes(_ uid: [UInt8]) -> [UInt8] {
    uid[..<3] + [uid[..<3].reduce(0x88, ^)] + uid[3...] + [uid[3...].reduce(0, ^)]
  }

  private static func replace(_ form: [UInt8], with other: [UInt8], in result: inout [UInt8], of bytes: [UInt8]) {
    var start = 0
    while start + shortest <= bytes.count {
      guard let run = Self.longestRun(of: form, in: bytes, at: start) else {
        start += 1
        continue
      }
      result.replaceSubrange(start..<start + run.count, with: other[run])
      start += run.count
    }
  }

  /// The part of `form` that begins at `start` of `bytes`; nil if it is too short.
  static func longestRun(of form: [UInt8], in bytes: [UInt8], at start: Int) -> Range<Int>? {
    var best: Range<Int>?
    for offset in form.indices where form[offset] == bytes[start] {
      var count = 1
      while offset + count < form.count, start + count < bytes.count, form[offset + count] == bytes[start + count] {
        count += 1
      }
      if count >= max(shortest, (best?.count ?? 0) + 1) { best = offset..<offset + count }
    }
    return best
  }

  // MARK: Messages

  /// A message of the same form: the same records, and in their payloads the same punctuation. Undecodable bytes become
  /// zeros.
  static func redact(message bytes: [UInt8]) -> [UInt8] {
    guard let message = try? NDEFMessage(decoding: bytes) else { return [UInt8](repeating: 0, count: bytes.count) }
    var redacted = message
    for index in message.records.indices {
      let record = message.records[index]
      redacted.records[index].id = record.id.map(masked)
      if record.typeNameFormat == .external { redacted.records[index].type = record.type.map(masked) }
      redacted.records[index].payload = payload(of: record)
    }
    let encoded = try? redacted.encoded()
    return encoded.flatMap { $0.count == bytes.count ? $0 : nil } ?? [UInt8](repeating: 0, count: bytes.count)
  }

  private static func payload(of record: NDEFRecord) -> [UInt8] {
    // The code of a link's beginning, and the status byte with the language of a text (NFC Forum URI 3.2.2, Text 3.2.1).
    let kept: Int
    switch (record.typeNameFormat, record.type) {
    case (.wellKnown, Array("U".utf8)): kept = 1
    case (.wellKnown, Array("T".utf8)): kept = 1 + Int((record.payload.first ?? 0) & 0x3F)
    case (.wellKnown, Array("Sp".utf8)): return redact(message: record.payload)
    default: return [UInt8](repeating: 0x78, count: record.payload.count)
    }
    return record.payload.prefix(kept) + record.payload.dropFirst(kept).map(masked)
  }

  /// A letter becomes x and a digit 0. Punctuation of ASCII stays.
  private static func masked(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(ascii: "0")
    case 0x20...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: byte
    default: UInt8(ascii: "x")
    }
  }

  /// What is known of the tag that is being read.
  private struct Reading {
    /// Nil if it has none, or could not be read.
    private let message: [UInt8]?
    private let redacted: [UInt8]
    /// Where the next part of the message is expected.
    private var next = 0
    /// Whether the capability container of a Type 4 tag is selected (NFC Forum Type 4 Tag, 5.1).
    private var isContainerSelected = false

    private static let container: [UInt8] = [0xE1, 0x03]

    init(_ message: [UInt8]? = nil) {
      self.message = message
      redacted = message.map(TraceRedaction.redact(message:)) ?? []
    }

    mutating func note(_ command: [UInt8]) {
      guard let start = command.firstRange(of: [0x00, 0xA4]), command.count > start.upperBound else { return }
      isContainerSelected = command.firstRange(of: Self.container) != nil
    }

    /// The data of an answer to a command of a tag, without what belongs to the reader.
    mutating func redact(_ data: [UInt8], to command: [UInt8], hasIdentifier: Bool) -> [UInt8] {
      if let (start, part) = part(of: data) {
        next = part.upperBound
        return Array(data[..<start] + redacted[part]) + [UInt8](repeating: 0, count: data.count - start - part.count)
      }
      let kept = isStructure(command, hasIdentifier) ? 20 : 0
      return data.prefix(kept) + [UInt8](repeating: 0, count: max(data.count - kept, 0))
    }

    /// Where a part of the message begins in the data, and which part.
    private func part(of data: [UInt8]) -> (start: Int, part: Range<Int>)? {
      guard let message, !data.isEmpty else { return nil }
      let following = zip(message[next...], data).prefix { $0 == $1 }.count
      if following > 0, following == min(message.count - next, data.count) { return (0, next..<next + following) }
      for start in data.indices.prefix(TraceRedaction.longestHeader) {
        if let run = TraceRedaction.longestRun(of: message, in: data, at: start) { return (start, run) }
      }
      return nil
    }

    /// Whether the answer describes the tag and not what is stored on it.
    private func isStructure(_ command: [UInt8], _ hasIdentifier: Bool) -> Bool {
      switch command {
      // Pages 0 to 3 of Type 2, and the version of the chip (NTAG213 data sheet, 10.1 and 10.2).
      case [0x30, 0x00], [0x60]: true
      case _ where command.starts(with: [0xFF, 0xB0, 0x00, 0x00]): hasIdentifier
      // What the reader answers itself, such as its firmware (ACR122U API 2.04, 6).
      case _ where command.count > 2 && command.starts(with: [0xFF, 0x00]) && command[2] >= 0x40: true
      // FeliCa: the attribute information block (NFC Forum Type 3 Tag, 4.4). Polling.
      case _ where command.count > 1 && command[1] == 0x06 && command.suffix(2) == [0x80, 0x00]: true
      case _ where command.count > 1 && command[1] == 0x00: true
      case _ where command.starts(with: [0x00, 0xB0]): isContainerSelected
      case _ where command.starts(with: [0x00, 0xA4]): true
      default: false
      }
    }
  }
}

extension TraceLine.Exchange {
  /// What the tag gets: without what the chip or the reader needs (UM0701-02, 7.3.8 and 7.3.9; ACR122U API 2.04, 3.2).
  fileprivate var tagCommand: [UInt8] {
    if call == nil { return Array(command.dropFirst(command.first == 0x42 ? 1 : 2)) }
    guard command.starts(with: [0xFF, 0x00, 0x00, 0x00]), command.count > 6, command[5] == 0xD4 else { return command }
    return Array(command.dropFirst(command[6] == 0x42 ? 7 : 8))
  }

  /// Where an answer has data of the tag; nil if it has none.
  fileprivate func data(in answer: [UInt8]) -> Range<Int>? {
    switch call {
    // InDataExchange, InCommunicateThru. The first byte is the status.
    case nil: [0x40, 0x42].contains(command.first) && answer.count > 1 ? 1..<answer.count : nil
    case .transmit: isIdentifierRequest || answer.count <= 2 ? nil : 0..<answer.count - 2
    // A serial number of the reader, of pcscd's attributes (reader.h).
    case .attribute: code == 0x1_0103 ? answer.indices : nil
    case .connect, .control, .reset, .disconnect, .connectReader: nil
    }
  }

  /// GET DATA of the UID, or of the ATS (PC/SC part 3, 3.2.2.1.3).
  private var isIdentifierRequest: Bool { command.starts(with: [0xFF, 0xCA]) }

  /// Of the tags in the answer.
  fileprivate var identifiers: [[UInt8]] {
    guard let answer else { return [] }
    if call == .transmit { return isIdentifierRequest ? [Array(answer.dropLast(2))] : [] }
    guard call == nil, command.first == 0x4A, command.count > 2, let count = answer.first, count > 0 else { return [] }
    // InListPassiveTarget (UM0701-02, 7.3.5). The target's number comes first.
    let target = answer.dropFirst(2)
    switch command[2] {
    case 0x00:
      guard target.count > 4 else { return [] }
      return [Array(target.dropFirst(4).prefix(Int(target[target.startIndex + 3])))]
    case 0x01, 0x02: return [Array(target.dropFirst(2).prefix(8))]
    case 0x03: return [Array(target.dropFirst(1).prefix(4))]
    case 0x04: return [Array(target.dropFirst(2).prefix(4))]
    default: return []
    }
  }
}
