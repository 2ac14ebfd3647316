import Glibc
import ReaderSimulator
import TestSupport
import Testing

/// Random taps with random faults on one reader.
///
/// Each tap ends when its notification came, or when a fault has taken its tag away during the reading.
struct CardWalk {
  /// What happens to a tap.
  enum Event: Sendable, Hashable {
    case nothing
    /// The reader answers this command with a status word.
    case status(UInt16, command: Int)
    /// The reader answers this command with success and no data.
    case noData(command: Int)
    /// The exchange fails.
    case silence(command: Int, executed: Bool)
    /// The tag goes away, and does not come back.
    case removal(command: Int, executed: Bool)
    /// The tag goes away for a moment.
    case flicker(command: Int)
    /// The tag has no power at first.
    case mute

    var fault: CardFault? {
      switch self {
      case .nothing: nil
      case .status(let word, let command): .status(word, command: command)
      case .noData(let command): .status(0x9000, command: command)
      case .silence(let command, let executed): .silence(command: command, executed: executed)
      case .removal(let command, let executed): .removal(command: command, executed: executed)
      case .flicker(let command): .flicker(command: command)
      case .mute: .mute()
      }
    }

    /// Whether the tag stays until it was read.
    var leavesTag: Bool { if case .removal = self { false } else { true } }
  }

  let desk: CardDesktop
  let announcements: Announcements
  let reader: Int
  let seed: UInt64
  private var generator: SeededGenerator
  /// The number of the last new tag. Each reader has numbers of its own.
  private var number: Int
  /// Whether the last tag was announced and still lies there. No fault was pending then.
  private var isResting = false
  /// How often each text has to be shown.
  private(set) var expected: [String: Int] = [:]
  /// The last events, for the error.
  private var history: [String] = []
  private var kills = 0

  /// Most of the readings with a fault take 0.6 s, because the reader process waits for a removal.
  private static let faultsInPercent = 22
  /// The commands that every reading takes.
  private static let commands = 1...3
  /// Words that do not say whether a later attempt succeeds.
  private static let words: [UInt16] = [0x6300, 0x6401, 0x6A82, 0x6F00]
  /// The daemon starts a process that has ended again at once the first time, and later after pauses.
  private static let mostKills = 2

  init(_ desk: CardDesktop, _ announcements: Announcements, reader: Int, seed: UInt64) {
    (self.desk, self.announcements, self.reader, self.seed) = (desk, announcements, reader, seed)
    generator = SeededGenerator(seed: seed &+ UInt64(reader))
    number = reader * 10_000
  }

  /// Makes `count` taps. The first one has a new tag and no fault, because a process may be dead that has to notice it.
  mutating func run(_ count: Int) async throws {
    for index in 0..<count {
      let repeats = index > 0 && isResting && Int.random(in: 0..<8, using: &generator) == 0
      if !repeats { number += 1 }
      // Every third tag is of Type 4, by its number.
      let tag = try Tag(number, type: number.isMultiple(of: 3) ? 4 : 2)
      let event = index == 0 ? Event.nothing : randomEvent(tag.type)
      try await tap(tag, event)
      guard isResting, kills < Self.mostKills, Int.random(in: 0..<60, using: &generator) == 0 else { continue }
      kills += 1
      try await killReaderProcess()
    }
  }

  /// A tap without a fault, after which nothing of earlier taps can follow on this reader.
  mutating func finish() async throws {
    number += 1
    try await tap(try Tag(number), .nothing)
  }

  private mutating func randomEvent(_ type: Int) -> Event {
    guard Int.random(in: 0..<100, using: &generator) < Self.faultsInPercent else { return .nothing }
    let command = Int.random(in: Self.commands, using: &generator)
    // A status word of a Type 4 tag may be its answer: it has no NDEF application.
    switch Int.random(in: type == 4 ? 2..<7 : 0..<7, using: &generator) {
    case 0: return .status(Self.words.randomElement(using: &generator) ?? 0x6300, command: command)
    case 1: return .noData(command: command)
    case 2: return .silence(command: command, executed: Bool.random(using: &generator))
    case 3, 4: return .removal(command: command, executed: Bool.random(using: &generator))
    case 5: return .flicker(command: command)
    default: return .mute
    }
  }

  private mutating func tap(_ tag: Tag, _ event: Event) async throws {
    let slot = try desk.slot(reader)
    let text = Tag.text(number)
    history = history.suffix(9) + ["\(number) \(event)"]
    await desk.readers.clearFaults(of: slot)
    await desk.readers.removeAll(from: slot)
    if let fault = event.fault { await desk.readers.add(fault, to: slot) }
    try await desk.readers.insert(SimulatedCard(try tag.simulated), into: slot)
    isResting = event.leavesTag
    guard event.leavesTag else {
      return try await within("the removal of") { [readers = desk.readers] in
        await readers.wait { $0.strikes(in: slot) > 0 }
      }
    }
    let count = expected[text, default: 0] + 1
    expected[text] = count
    try await within("an announcement of") { [announcements] in await announcements.reach(count, of: text) }
  }

  /// Kills the reader process while a tag rests. The next tag is placed before the next process looks.
  private mutating func killReaderProcess() async throws {
    history.append("kill")
    let process = try await desk.process(ofReader: reader)
    process.signal(SIGKILL)
    try await process.end()
    // Nobody sees whether the same tag is away for a moment.
    isResting = false
  }

  private func within(_ what: String, _ wait: @escaping @Sendable () async throws -> Void) async throws {
    let exchanges = await desk.readers.exchanges(in: try desk.slot(reader)).suffix(12).map(\.description)
    try await desk.desktop.within(
      """
      \(what) tag \(number) on reader \(reader), seed \(seed); events: \(history.joined(separator: ", "))
      exchanges before: \(exchanges.joined(separator: "\n  "))
      """, wait)
  }
}
