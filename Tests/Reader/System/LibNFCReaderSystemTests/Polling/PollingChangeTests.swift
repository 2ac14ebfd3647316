import Daemon
import Journal
import Names
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit
@testable import ReaderProtocol

/// Changes of the technologies and intervals of a reader that is in use.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PollingChangeTests {
  private static func polling(_ technologies: [TagType] = TagType.readable, interval: Int = 20) -> ReaderPolling {
    ReaderPolling(interval: .milliseconds(interval), idleInterval: .milliseconds(interval), technologies: technologies)
  }

  @Test func `after a change of technologies new tags are announced but resting ones are not`() async throws {
    let rig = try await ReaderRig.scanning()
    let child = try #require(await rig.process.processID)
    let (resting, placement) = try await rig.announces("https://example.com/1")
    // The same look finds Type 2 and Type 4A, so the resting tag keeps its placement although its kind is no longer
    // wanted.
    await rig.configure { $0 = Self.polling([.type4A]) }
    try await rig.commands(60)
    try await rig.takeAway(resting, placement)
    // A Type 2 tag is unwanted now. It is not announced, even if its kind becomes wanted while it lies there. The next
    // tag is announced.
    let unwanted = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    try await rig.next("a log line about the tag") { event in
      if case .log(.debug, let line) = event, line.contains("type-2 is not configured") { true } else { nil }
    }
    try await rig.commands(60)
    await rig.configure { $0 = Self.polling() }
    try await rig.commands(60)
    await rig.simulator.remove(unwanted)
    try await rig.announces("https://example.com/3", isType4: true)
    #expect(await rig.process.processID == child)
  }

  @Test func `a change of technologies takes effect after the reader session`() async throws {
    let rig = try await ReaderRig.inSession()
    await rig.configure { $0 = Self.polling([.type4A]) }
    let (id, tag) = try await rig.finds(try .type4B(message: uri("https://example.com/1")))
    #expect(try await rig.perform(.read, tag) == .message(try uri("https://example.com/1")))
    try await rig.takeAway(id, tag)
    try await rig.end()
    try await rig.scan(true)
    await rig.simulator.place(try .type4B(message: uri("https://example.com/2")))
    try await rig.commands(60)
    try await rig.announces("https://example.com/3", isType4: true)
  }

  /// The first command after the change releases the resting tag.
  @Test func `a change takes full effect even if the device fails during it`() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type4B(message: uri("https://example.com/1")))
    _ = try await rig.message()
    await rig.simulator.add(.silence(commands: 3))
    await rig.configure { $0 = Self.polling([.type2]) }
    try await rig.isReady()
    try await rig.announces("https://example.com/2")
  }

  @Test func `a change does not wake a reader that sleeps or is lent`() async throws {
    let rig = try await ReaderRig.asleep()
    await rig.configure { $0 = Self.polling([.type2]) }
    try await rig.isAsleep()
    #expect(await !rig.simulator.isFieldOn)
    try await rig.startLoan()
    await rig.configure { $0 = Self.polling([.type4A]) }
    try await rig.isAsleep()
    await rig.lend(false)
    try await rig.scan(true)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    try await rig.commands(60)
    await rig.simulator.removeAll()
    try await rig.commands(60)
    try await rig.announces("https://example.com/2", isType4: true)
  }

  @Test func `an interval out of bounds is set to the nearest bound`() throws {
    var options = try ReaderOptions(["--list"])
    options.take(Self.polling(interval: 0))
    #expect(options.pollInterval == .milliseconds(10))
    options.take(Self.polling(interval: 100_000))
    #expect(options.idlePollInterval == .milliseconds(10_000))
  }

  // MARK: Resting tags

  private let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  private let typeB = TagActivation.typeB(
    TypeBActivation(
      pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0xE1], attribResponse: [0])
  )

  @Test func `tags of a technology that is no longer polled are forgotten and stay known`() {
    var field = TargetField([.typeA, .typeB])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    field.look(for: [.typeB]) { _ in true }
    #expect(field.resting.isEmpty)
    let key = TagFingerprint.Key(low: 1, high: 2)
    let fingerprint = TagFingerprint(.type2, tag.identifier, key)
    let known = KnownTags(key: key, tags: [KnownTag(number: 1, fingerprint: fingerprint, technology: .type2)])
    field.know(known)
    // These looks are for another technology, so the tag does not leave.
    for _ in 1...3 { #expect(field.looked(for: .typeB, found: []) == []) }
    field.look(for: [.typeA, .typeB]) { _ in true }
    field.know(known)
    #expect(field.looked(for: .typeA, found: [tag]) == [.recognized(tag)])
    for _ in 1...2 { _ = field.looked(for: .typeA, found: []) }
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func `a tag of a newly added technology is announced`() {
    var field = TargetField([.typeA])
    field.look(for: [.typeA, .typeB]) { _ in true }
    #expect(field.looked(for: .typeB, found: [typeB]) == [.arrived(1, typeB)])
  }
}
