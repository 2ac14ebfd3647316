import Daemon
import Journal
import Names
import ReaderProtocol
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit

/// Several tags on one reader, and tags with random identifiers.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SeveralTagsTests {
  /// A card that declares more bytes than it has.
  private static var damaged: Type4Options { Type4Options { $0.declaredLength = 0xFFF0 } }

  /// The messages of the next `count` tags, with their placement numbers.
  func messages(_ count: Int, _ rig: ReaderRig) async throws -> [[UInt8]: UInt64] {
    var found: [[UInt8]: UInt64] = [:]
    for _ in 0..<count {
      let (message, placement) = try await rig.message()
      found[message] = placement.number
    }
    return found
  }

  @Test(arguments: [false, true]) func `two tags are both read and leave one by one`(isType4: Bool) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let (first, second) = (try uri("https://example.com/1"), try uri("https://example.com/2"))
    let tags = [
      first: await rig.simulator.place(try .type2(.ntag213, message: first)),
      second: await rig.simulator.place(try isType4 ? .type4(message: second) : .type2(.ntag215, message: second)),
    ]
    await rig.setScanning(true)
    let found = try await messages(2, rig)
    #expect(Set(found.keys) == [first, second])
    try await rig.commands(40)
    for message in [second, first] {
      await rig.simulator.remove(try #require(tags[message]))
      #expect(try await rig.removal() == found[message])
    }
  }

  /// The chip separates the cards by time slots. Each card has its own identifier.
  @Test(arguments: [false, true], [false, true])
  func `two Type B cards are both read and leave one by one`(firstLeavesFirst: Bool, wakesTypeB: Bool) async throws {
    let rig = try await ReaderRig(wakesTypeB: wakesTypeB)
    try await rig.isReady()
    let messages = [try uri("https://example.com/1"), try uri("https://example.com/2")]
    var tags: [[UInt8]: TagID] = [:]
    for message in messages { tags[message] = await rig.simulator.place(try .type4B(message: message)) }
    await rig.setScanning(true)
    let found = try await self.messages(2, rig)
    #expect(Set(found.keys) == Set(messages))
    try await rig.commands(60)
    for message in firstLeavesFirst ? messages : messages.reversed() {
      await rig.simulator.remove(try #require(tags[message]))
      #expect(try await rig.removal() == found[message])
      try await rig.commands(20)
    }
  }

  /// The chip's manual does not say whether a look wakes a released Type B card. If it does not, looks miss the card
  /// until the field was off.
  @Test(arguments: [true, false])
  func `a Type B card is one placement whether or not a look wakes it`(wakesTypeB: Bool) async throws {
    let rig = try await ReaderRig(wakesTypeB: wakesTypeB)
    await rig.setScanning(true)
    let id = await rig.simulator.place(try .type4B(message: uri("https://example.com")))
    let (_, placement) = try await rig.message()
    try await rig.commands(100)
    // With a tag of another kind beside it, the card is released again and again.
    let (other, second) = try await rig.announces("https://example.com/2")
    try await rig.commands(200)
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
    for (id, placement) in [(other, second), (id, placement)] { try await rig.takeAway(id, placement) }
  }

  @Test(arguments: [false, true]) func `a tag placed beside a resting one is noticed`(isType4: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    let (first, second) = (try uri("https://example.com/1"), try uri("https://example.com/2"))
    let id = await rig.simulator.place(try isType4 ? .type4(message: first) : .type2(.ntag213, message: first))
    let (_, placement) = try await rig.message()
    try await rig.commands(20)
    await rig.simulator.place(try .type2(.ntag213, message: second))
    #expect(try await rig.message().message == second)
    // The first tag keeps its placement.
    try await rig.commands(20)
    try await rig.takeAway(id, placement)
  }

  /// The device fails at each of the first commands in turn.
  @Test(arguments: 1...24) func `a device failure loses none of several new tags`(command: Int) async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type2(.ntag213, message: try uri("https://example.com/1")))
    _ = try await rig.message()
    let messages = [try uri("https://example.com/2"), try uri("https://example.com/3")]
    await rig.simulator.place(try .type2(.ntag213, message: messages[0]))
    await rig.simulator.place(try .type3(message: messages[1]))
    await rig.simulator.add(.corruptChecksum(command: command))
    let found = try await self.messages(2, rig)
    #expect(Set(found.keys) == Set(messages))
    // Resting tags are not announced again.
    try await rig.commands(40)
    let tags = rig.seen.count { if case .tag = $0 { true } else { false } }
    #expect(tags == 3)
  }

  /// The card is read three times and has a new identifier each time. The resting card is recognised by the last one.
  @Test(arguments: [false, true])
  func `a damaged card with a random identifier is reported once`(isTypeB: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    let message = try uri("https://example.com")
    let id = await rig.simulator.place(
      try isTypeB
        ? .type4B(message: message, pupi: .random, options: Self.damaged)
        : .type4(message: message, uid: .random, options: Self.damaged))
    let placement = try await rig.tag().placement
    let begin = await rig.simulator.commands.count
    try await rig.commands(60)
    let commands = await rig.simulator.commands[begin...]
    #expect(!commands.contains { $0.command.first == 0x40 }, "\(commands.map(\.description))")
    try await rig.takeAway(id, placement)
  }

  /// The tag has to be selected again for each attempt, and the chip would find the other tag first.
  @Test(arguments: [false, true])
  func `a damaged tag beside another one is reported once`(isRandom: Bool) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let message = try uri("https://example.com")
    await rig.simulator.place(
      try .type4(message: message, uid: isRandom ? .random : .fixed([0x04, 0, 0, 0, 0, 0, 1]), options: Self.damaged))
    // Of two UIDs, the chip selects the one with a 1 in the first bit that differs.
    await rig.simulator.place(try .type2(.ntag213, message: message, uid: .fixed([0x07, 1, 1, 1, 1, 1, 1])))
    await rig.setScanning(true)
    let contents = [try await rig.tag().content, try await rig.tag().content]
    #expect(contents.contains(.message(message)))
    try await rig.commands(60)
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
    // A look misses the second of two sleeping tags, and the field goes off. A tag with a random identifier then has to
    // be compared again. This repeats, but looks continue in between.
    for _ in 1...2 {
      let begin = await rig.simulator.commands.count
      try await rig.commands(60)
      let commands = await rig.simulator.commands[begin...].prefix(60)
      let exchanges = commands.count { $0.command.first == 0x40 }
      #expect(exchanges <= (isRandom ? 45 : 0), "\(commands.map(\.description))")
    }
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
  }

  /// The cards differ only in their identifiers. The chip does not always find the same one first.
  @Test(arguments: 1...6 as ClosedRange<UInt8>)
  func `a damaged Type B card beside another of its make is reported once`(identifier: UInt8) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let message = try uri("https://example.com")
    let (whole, damaged) = ([identifier, 1, 2, 3], [identifier, 4, 5, 6])
    await rig.simulator.place(try .type4B(message: message, pupi: .fixed(whole)))
    await rig.simulator.place(try .type4B(message: message, pupi: .fixed(damaged), options: Self.damaged))
    await rig.setScanning(true)
    let reports = [try await rig.tag(), try await rig.tag()]
    let found = Dictionary(reports.map { ($0.placement.uid, $0.content) }) { first, _ in first }
    #expect(Set(found.keys) == [whole, damaged])
    #expect(found[whole] == .message(message))
    #expect(found[damaged] != .message(message))
    try await rig.commands(60)
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
  }
}

/// A tag that arrived and was not announced is new when it is found again, unless scanning has stopped meanwhile.
/// Another user may be at the machine after a stop.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct UnannouncedTagTests {
  /// Why the tag was not announced.
  enum Reason: CaseIterable { case stopped, deviceFailed, stoppedComparing, deviceFailedComparing }

  private static func card(_ uid: [UInt8]) -> TagActivation {
    .typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: uid, ats: [3, 0x10, 0x80]))
  }

  /// Returns a field with an unannounced tag, and the activation with which it will be found again.
  private static func leave(_ reason: Reason) -> (field: TargetField, tag: TagActivation) {
    var field = TargetField([.typeA, .typeB])
    let first = card([8, 1, 1, 1])
    #expect(field.looked(for: .typeA, found: [first]) == [.arrived(1, first)])
    let second = card([8, 2, 2, 2])
    switch reason {
    case .stopped: field.unread(1)
    case .deviceFailed: #expect(field.interrupted(1) == false)
    case .stoppedComparing, .deviceFailedComparing:
      field.examined(1, first, .message([0xD0, 0, 0]))
      #expect(field.looked(for: .typeA, found: [second]) == [.uncertain(2, resting: 1, second)])
      if reason == .stoppedComparing {
        field.unread(second)
      } else {
        #expect(field.interrupted(2, with: 1, second) == false)
      }
      return (field, second)
    }
    return (field, first)
  }

  @Test(arguments: Reason.allCases) func `an unannounced tag is new when it is found again`(reason: Reason) {
    var (field, tag) = Self.leave(reason)
    let outcomes = field.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  @Test(arguments: Reason.allCases)
  func `an unannounced tag is known after a stop until it is removed`(reason: Reason) {
    var (field, tag) = Self.leave(reason)
    // Looks for another technology do not affect the tag.
    _ = field.looked(for: .typeB, found: [])
    _ = field.looked(for: .typeB, found: [])
    _ = field.stop()
    #expect(field.stop() == [])
    for _ in 1...5 { #expect(field.looked(for: .typeA, found: [tag]) == []) }
    for _ in 1...TargetField.missesUntilAway { _ = field.looked(for: .typeA, found: []) }
    let outcomes = field.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  @Test(arguments: Reason.allCases)
  func `an unannounced tag that was removed is not known after a stop`(reason: Reason) {
    var (field, tag) = Self.leave(reason)
    for _ in 1...TargetField.missesUntilAway { _ = field.looked(for: .typeA, found: []) }
    #expect(field.stop() == [])
    let outcomes = field.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  /// The tag lies there before scanning begins. The second command is the look, and the third begins the reading.
  @Test func `a tag is not announced if its reading fails and scanning then stops`() async throws {
    let rig = try await ReaderRig.asleep()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/before")))
    await rig.simulator.add(.silence(from: 3))
    await rig.setScanning(true)
    try await rig.next("a failed reader") { if case .phase(.failed, _) = $0 { true } else { nil } }
    try await rig.scan(false)
    await rig.simulator.clearFaults()
    try await rig.scan(true)
    try await rig.announcesOnlyWhatComesNow()
  }
}
