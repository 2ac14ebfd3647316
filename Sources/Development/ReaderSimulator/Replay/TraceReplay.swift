package import Names

/// The answers of a recorded reader, and how far they were repeated (docs/traces.md).
///
///     var replay = try TraceReplay(file)
///     let recorded = replay.answer(to: .chip([0x4A, 0x01, 0x00]))
package struct TraceReplay: Sendable {
  /// What tells one exchange from others.
  package struct Command: Sendable, Hashable {
    fileprivate var call: TraceLine.Exchange.Call?
    fileprivate var code: UInt32?
    fileprivate var bytes: [UInt8]

    /// For a chip that libnfc drives, without `D4`.
    package static func chip(_ bytes: [UInt8]) -> Command { Command(bytes: bytes) }
    package static func transmit(_ bytes: [UInt8]) -> Command { Command(call: .transmit, bytes: bytes) }
    package static func control(_ code: UInt32, _ bytes: [UInt8]) -> Command {
      Command(call: .control, code: code, bytes: bytes)
    }
    package static func attribute(_ code: UInt32) -> Command { Command(call: .attribute, code: code, bytes: []) }

    fileprivate init(call: TraceLine.Exchange.Call? = nil, code: UInt32? = nil, bytes: [UInt8]) {
      (self.call, self.code, self.bytes) = (call, code, bytes)
    }

    init(_ exchange: TraceLine.Exchange) {
      self.init(call: exchange.call, code: exchange.code, bytes: exchange.command)
    }

    /// A chip looks for tags, which libnfc does not do when it opens one.
    fileprivate var isLook: Bool {
      call == nil && [PN532Command.inListPassiveTarget, .inAutoPoll].contains { $0.rawValue == bytes.first }
    }
  }

  /// A card comes or goes in the slot.
  enum SlotChange: Hashable {
    case inserted(RecordedCard)
    case removed
  }

  struct RecordedCard: Hashable {
    /// Empty if pcscd did not know it yet.
    var answerToReset: [UInt8]
    /// The reader has found the card and could not give it power.
    var isMute: Bool
    /// pcscd has tried to give it power.
    fileprivate var wasTried = false

    init(_ answerToReset: [UInt8], isMute: Bool = false) {
      (self.answerToReset, self.isMute) = (answerToReset, isMute)
    }
  }

  package static let mostLines = 200_000
  package static let mostBytes = 64 << 20
  /// The longest pause before a card comes or goes, unless times are repeated.
  private static let longestPause = Duration.seconds(1)

  private let lines: [TraceLine.Event]
  /// Where each command is among the lines, in order.
  private let places: [Command: [Int]]
  private let changes: [PlacedChange]
  /// The command to a chip with which the recording began.
  private let firstCommand: Command?
  let repeatsTimes: Bool

  /// The line after the last one that was matched.
  private var next = 0
  /// The lines that were matched.
  private var matched: Set<Int> = []
  private var nextChange = 0
  private var hasBegun = false
  /// How long the recorded reader took for the last answer; nil if that was not repeated.
  private var time: Duration?
  /// The recorded card that lies in the slot.
  private(set) var card: RecordedCard?

  private struct PlacedChange {
    let place: Int
    let change: SlotChange
    /// The place of the last command for a card before it; -1 if there is none since the change before.
    let lastCommand: Int
    let pause: Duration
  }

  /// `file` is the contents of a trace. `repeatsTimes`: whether answers and cards come when they came to the recorded
  /// reader. The error names the line.
  package init(_ file: [UInt8], repeatsTimes: Bool = false) throws(TraceError) {
    self.init(try Self.lines(of: file), repeatsTimes: repeatsTimes)
  }

  package init(_ trace: [TraceLine], repeatsTimes: Bool = false) {
    self.repeatsTimes = repeatsTimes
    lines = trace.map(\.event)
    var places: [Command: [Int]] = [:]
    var firstCommand: Command?
    for (place, line) in trace.enumerated() {
      guard case .exchange(let exchange) = line.event else { continue }
      let command = Command(exchange)
      places[command, default: []].append(place)
      if exchange.call == nil { firstCommand = firstCommand ?? command }
    }
    (self.places, self.firstCommand) = (places, firstCommand)
    changes = Self.changes(in: trace)
  }

  private static func lines(of file: [UInt8]) throws(TraceError) -> [TraceLine] {
    guard file.count <= mostBytes else { throw TraceError("a trace has at most \(mostBytes) bytes") }
    var trace: [TraceLine] = []
    var hasHeader = false
    for (index, bytes) in file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      guard index < mostLines || bytes.isEmpty else { throw TraceError("a trace has at most \(mostLines) lines") }
      guard !bytes.isEmpty else { continue }
      let line: TraceLine?
      do throws(TraceError) { line = try TraceLine.read(Array(bytes)) } catch {
        throw TraceError("line \(index + 1): \(error)")
      }
      if case .header? = line?.event { hasHeader = true }
      guard hasHeader else { throw TraceError("line \(index + 1): a trace begins with the key \"trace\"") }
      if let line { trace.append(line) }
    }
    guard hasHeader else { throw TraceError("line 1: a trace begins with the key \"trace\"") }
    return trace
  }
}

extension TraceReplay {
  /// Whether the recorded reader was one of pcscd.
  package var isOfPCSC: Bool {
    lines.contains { line in
      switch line {
      case .slot: true
      case .exchange(let exchange): exchange.call != nil
      default: false
      }
    }
  }

  /// pcscd's name of the recorded reader, without the numbers that pcscd appends; nil if the trace has none.
  package var readerName: String? {
    for case .device(let device, _, _) in lines {
      if let name = Names.PCSC.readerName(inDevice: device) { return Names.PCSC.withoutNumbers(name) }
    }
    return nil
  }

  /// What the recorded reader did after this command: after the last matched line, but before the next change in the
  /// slot, or else when the command came last before. Nil if it never came, or if the recording has not begun: a command
  /// that libnfc sends when it opens a chip may also occur late in the trace.
  package mutating func answer(to command: Command) -> TraceLine.Exchange? {
    time = nil
    hasBegun = hasBegun || command.call != nil || command == firstCommand || command.isLook
    guard hasBegun, let all = places[command] else { return nil }
    let end = nextChange < changes.count ? changes[nextChange].place : lines.count
    let index = Self.first(of: all, from: next)
    let place: Int
    if index < all.count, all[index] < end {
      place = all[index]
      next = place + 1
    } else {
      guard index > 0 else { return nil }
      place = all[index - 1]
    }
    guard case .exchange(let exchange) = lines[place] else { return nil }
    matched.insert(place)
    if repeatsTimes { time = exchange.milliseconds.map { .milliseconds(max(0, min($0, Self.longestAnswer))) } }
    return exchange
  }

  /// What was not repeated yet: commands that did not come, failed connections, and changes in the slot. A call without
  /// a command that succeeded has nothing to repeat.
  package var remaining: [TraceLine.Event] {
    let coming = Set(changes.dropFirst(nextChange).map(\.place))
    return lines.indices.filter { place in
      switch lines[place] {
      case .exchange(let exchange):
        !matched.contains(place) && (exchange.hasCommand || exchange.result != nil)
      default: coming.contains(place)
      }
    }.map { lines[$0] }
  }

  /// The time of the last answer, if times are repeated. Once only.
  mutating func takeTime() -> Duration? {
    defer { time = nil }
    return time
  }

  /// In milliseconds, so that a mistake in a file does not stop a reader for ever.
  private static let longestAnswer = 60_000.0
  /// In seconds.
  private static let longestRecordedPause = 86_400.0

  /// The index of the first number that is at least `start`; the numbers are in order.
  private static func first(of numbers: [Int], from start: Int) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < start { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: The slot

extension TraceReplay {
  /// The bits of an event word, and the place of its counter (pcsclite.h).
  private enum Word {
    static let present: UInt32 = 0x20
    static let mute: UInt32 = 0x200
    static func counter(_ word: UInt32) -> UInt32 { word >> 16 }
  }

  private static func changes(in trace: [TraceLine]) -> [PlacedChange] {
    var changes: [PlacedChange] = []
    var present: UInt32?
    var lastCommand = -1
    var since: Double?
    for (place, line) in trace.enumerated() {
      switch line.event {
      // `tagroute report` leaves out the bytes of a reader session: no program will send such a command.
      case .exchange(let exchange) where exchange.call == .transmit && !exchange.command.isEmpty:
        (lastCommand, since) = (place, line.time ?? since)
      case .slot(let word, let answerToReset):
        let counter = word & Word.present != 0 ? Word.counter(word) : nil
        if since == nil { since = line.time }
        guard counter != present else { continue }
        let pause = Duration.seconds(max(0, min((line.time ?? 0) - (since ?? line.time ?? 0), longestRecordedPause)))
        let card = RecordedCard(answerToReset, isMute: word & Word.mute != 0)
        // Another number: the card was away, and pcscd has not reported it.
        let found: [SlotChange] = (present == nil ? [] : [.removed]) + (counter == nil ? [] : [.inserted(card)])
        for change in found {
          changes.append(PlacedChange(place: place, change: change, lastCommand: lastCommand, pause: pause))
          lastCommand = -1
        }
        (present, since) = (counter, line.time ?? since)
      default: break
      }
    }
    return changes
  }

  /// The next change in the slot, if no command for a card comes before it: its number, and how long after the last
  /// command it comes.
  var dueChange: (number: Int, pause: Duration)? {
    guard nextChange < changes.count, changes[nextChange].lastCommand < next else { return nil }
    let pause = changes[nextChange].pause
    return (nextChange, repeatsTimes ? pause : min(pause, Self.longestPause))
  }

  /// Carries out the next change in the slot, whether it is due or not. Nil if there is none.
  mutating func takeChange() -> SlotChange? {
    guard nextChange < changes.count else { return nil }
    let (place, change) = (changes[nextChange].place, changes[nextChange].change)
    nextChange += 1
    next = max(next, place + 1)
    if case .inserted(let inserted) = change { card = inserted } else { card = nil }
    return change
  }

  /// The recorded card is away before the trace says so.
  mutating func loseCard() {
    guard card != nil else { return }
    if nextChange < changes.count, changes[nextChange].change == .removed { _ = takeChange() }
    card = nil
  }

  /// Gives the recorded card power. Returns its answer to reset; nil if it does not answer.
  mutating func powerUp() -> [UInt8]? {
    guard var card else { return nil }
    defer { self.card = card }
    guard card.isMute else {
      let isRefused = nextCall(.reset, before: [.transmit]).map { $0.result != nil } ?? false
      return isRefused ? nil : card.answerToReset
    }
    // pcscd itself tries first, then at each connection.
    guard card.wasTried else {
      card.wasTried = true
      return nil
    }
    guard nextCall(.connect, before: [])?.result == nil, let answer = nextAnswerToReset else { return nil }
    card = RecordedCard(answer)
    return answer
  }

  private var placement: Range<Int> {
    let end = nextChange < changes.count ? changes[nextChange].place : lines.count
    return next..<max(next, end)
  }

  /// Matches the next call of this kind during this placement; nil if there is none, or one of `others` comes first.
  private mutating func nextCall(
    _ call: TraceLine.Exchange.Call, before others: Set<TraceLine.Exchange.Call>
  ) -> TraceLine.Exchange? {
    for place in placement {
      guard case .exchange(let exchange) = lines[place], let kind = exchange.call else { continue }
      if kind == call {
        matched.insert(place)
        next = place + 1
        return exchange
      }
      if others.contains(kind) { return nil }
    }
    return nil
  }

  private var nextAnswerToReset: [UInt8]? {
    for place in placement {
      if case .slot(_, let answerToReset) = lines[place], !answerToReset.isEmpty { return answerToReset }
    }
    return nil
  }
}

extension TraceLine.Exchange {
  fileprivate var hasCommand: Bool { [nil, .transmit, .control, .attribute].contains(call) }

  /// The call failed because the card was gone: SCARD_E_NO_SMARTCARD, SCARD_W_REMOVED_CARD.
  var foundNoCard: Bool { call != nil && [0x8010_000C, 0x8010_0069].contains(result) }
}
