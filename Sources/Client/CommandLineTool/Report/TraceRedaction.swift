import Names

/// Replaces the identifiers of tags in a trace, what is stored on them, and serial numbers of readers.
///
/// Structure stays as far as it is known to be structure: commands, lengths, status bytes, the capability container, the
/// form of the message. The message of a tap becomes one of the same form, so a redacted trace can be replayed. All other
/// data of tags become zeros. So do the bytes of reader sessions, which any program may have sent.
struct TraceRedaction {
  /// The links and texts of the tags.
  let contents: [String]
  private let substitution: IdentifierSubstitution

  var identifiers: [[UInt8]] { Array(substitution.substitutes.keys) }

  init(_ traces: [[TraceLine]]) {
    var found: [[UInt8]] = []
    var contents: [String] = []
    for line in traces.joined() {
      switch line.event {
      case .tap(let tap):
        found.append(tap.uid)
        contents += tap.message.map(MessageRedaction.texts) ?? []
      case .exchange(let exchange): found += Self.identifiers(in: exchange)
      default: break
      }
    }
    substitution = IdentifierSubstitution(found)
    self.contents = contents
  }

  func redact(_ trace: [TraceLine]) -> [TraceLine] {
    var tag = RecordedTag()
    var result = trace
    // A tap follows the exchanges that read it.
    var end = trace.count
    for index in trace.indices.reversed() {
      guard case .tap(let tap) = trace[index].event else { continue }
      redact(index + 1..<end, of: &result, tag)
      result[index].event = redact(trace[index].event)
      tag = RecordedTag(tap)
      end = index
    }
    redact(0..<end, of: &result, tag)
    return result
  }

  private func redact(_ range: Range<Int>, of trace: inout [TraceLine], _ tag: RecordedTag) {
    var tag = tag
    for index in range {
      if case .exchange(let exchange) = trace[index].event {
        trace[index].event = .exchange(redact(exchange, &tag))
      } else {
        trace[index].event = redact(trace[index].event)
      }
    }
  }

  private func redact(_ event: TraceLine.Event) -> TraceLine.Event {
    switch event {
    case .tap(var tap):
      tap.uid = substitution.substitutes[tap.uid] ?? [UInt8](repeating: 0, count: tap.uid.count)
      tap.message = tap.message.map(MessageRedaction.redact)
      tap.problem = tap.problem.map(TextRedaction.withoutSerials)
      return .tap(tap)
    case .slot(let word, let answer): return .slot(word, answerToReset: HistoricalBytes.redact(answerToReset: answer))
    case .device(let device, let name, let error):
      return .device(
        TextRedaction.withoutSerials(device), name: name.map(TextRedaction.withoutSerials),
        error: error.map(TextRedaction.withoutSerials))
    default: return event
    }
  }

  private func redact(_ exchange: TraceLine.Exchange, _ tag: inout RecordedTag) -> TraceLine.Exchange {
    var result = exchange
    if exchange.isOfSession {
      result.command = Self.zeroed(exchange.command, keeping: Self.kindSize(exchange))
      result.answer = exchange.answer.map { Self.zeroed($0, keeping: 0) }
      return result
    }
    let fixed = Self.keySize(exchange)
    result.command = exchange.command.prefix(fixed) + substitution.replace(in: Array(exchange.command.dropFirst(fixed)))
    guard var answer = exchange.answer else {
      if case .registers(let places, _) = TagExchange(exchange) { for place in places { result.command[place] = 0 } }
      return result
    }
    tag.select(Self.identifiers(in: exchange))
    switch TagExchange(exchange) {
    case .tag(let command, let place):
      let data = Array(answer[place])
      let bytes = tag.redact(data, to: command, hasIdentifier: substitution.isPresent(in: data))
      answer.replaceSubrange(place, with: bytes)
    case .targets(let targets):
      for place in targets.flatMap(\.historicalBytes) { answer[place] = 0 }
      // What follows an identifier here is no check byte.
      for place in targets.map(\.identifier) {
        answer.replaceSubrange(place, with: substitution.replace(in: Array(answer[place])))
      }
      result.answer = answer
      return result
    case .registers(let places, let values):
      for place in places { result.command[place] = 0 }
      for place in values { answer[place] = 0 }
    case .answerToSelect(let place):
      for place in Self.historicalBytes(answer, place) { answer[place] = 0 }
    case .answerToReset: answer = HistoricalBytes.redact(answerToReset: answer)
    case .serialNumber: answer = Self.zeroed(answer, keeping: 0)
    case .identifier, .reader: break
    }
    result.answer = substitution.replace(in: answer)
    return result
  }

  /// The size of what comes before the identifier in an authentication of MIFARE Classic: a key may end like a part of the
  /// identifier (MF1S50YYX data sheet, 10.1, by InDataExchange). 0 for other commands.
  private static func keySize(_ exchange: TraceLine.Exchange) -> Int {
    let command = exchange.command
    let isAuthentication = exchange.call == nil && command.count == 14 && [0x60, 0x61].contains(command[2])
    return isAuthentication ? 10 : 0
  }

  /// How many bytes of a session's command say what kind it is. A password may follow.
  private static func kindSize(_ exchange: TraceLine.Exchange) -> Int {
    // The header of an APDU; InDataExchange and InCommunicateThru with the command of the tag.
    exchange.call != nil ? 4 : exchange.command.first == 0x40 ? 3 : 2
  }

  private static func zeroed(_ bytes: [UInt8], keeping count: Int) -> [UInt8] {
    bytes.prefix(count) + [UInt8](repeating: 0, count: max(bytes.count - count, 0))
  }

  /// Some readers report the PMm of a FeliCa card instead, which has eight bytes, or only the historical bytes.
  private static func historicalBytes(_ answer: [UInt8], _ place: Range<Int>) -> Range<Int> {
    guard let length = answer[place].first else { return place }
    if Int(length) == place.count { return HistoricalBytes.range(inAnswerToSelect: answer, place) }
    return place.count == 8 ? 0..<0 : place.dropFirst()
  }

  /// Of the tags in the answer; none if the reader reports a failure.
  private static func identifiers(in exchange: TraceLine.Exchange) -> [[UInt8]] {
    guard let answer = exchange.answer else { return [] }
    switch TagExchange(exchange) {
    case .identifier(let place): return place.isEmpty ? [] : [Array(answer[place])]
    case .targets(let targets): return targets.map { withoutCascadeTags(Array(answer[$0.identifier])) }
    default: return []
    }
  }

  /// 88 (ISO/IEC 14443-3, 6.5.4), which some firmware leaves in a UID.
  private static func withoutCascadeTags(_ uid: [UInt8]) -> [UInt8] {
    switch uid.count {
    case 8 where uid[0] == 0x88: Array(uid[1...])
    case 12 where uid[0] == 0x88 && uid[4] == 0x88: Array(uid[1...3] + uid[5...])
    default: uid
    }
  }
}
