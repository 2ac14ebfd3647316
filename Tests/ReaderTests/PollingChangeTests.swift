import ReaderSimulator
import Rig
import Tags
import Testing

@testable import Reader
@testable import ReaderLink

/// Other technologies and other intervals for a reader that is in use.
@Suite(.timeLimit(.minutes(5))) struct PollingChangeTests {
  private static func polling(_ technologies: [String] = [], interval: Int = 20) -> ReaderPolling {
    ReaderPolling(
      interval: .milliseconds(interval), idleInterval: .milliseconds(interval), technologies: technologies)
  }

  @Test func whatRestsIsNotAnnouncedAnewAndWhatComesIs() async throws {
    let rig = try await ReaderRig.scanning()
    let child = try #require(await rig.process.processID)
    let resting = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    let first = try await rig.message()
    // Both kinds are found by the same look, so that the one that is left out stays what it was.
    await rig.configure(Self.polling(["type-4a"]))
    try await rig.commands(60)
    await rig.simulator.remove(resting)
    #expect(try await rig.removal() == first.placement.number)
    // It is no kind that is wanted now, and that it is there is nobody's business; the other kind is.
    let unwanted = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    try await rig.commands(60)
    await rig.configure(Self.polling())
    try await rig.commands(60)
    await rig.simulator.remove(unwanted)
    await rig.simulator.place(try .type4(message: uri("https://example.com/3")))
    #expect(try await rig.message().message == uri("https://example.com/3"))
    #expect(await rig.process.processID == child)
    await rig.stop()
  }

  @Test func aTagOfAKindThatNobodyLooksForForAWhileIsNotAnnouncedAgain() async throws {
    let rig = try await ReaderRig.scanning()
    let resting = await rig.simulator.place(try .type4B(message: uri("https://example.com/1")))
    let first = try await rig.message()
    await rig.configure(Self.polling(["type-2"]))
    try await rig.expect(.scanning(true))
    await rig.configure(Self.polling())
    try await rig.commands(120)
    await rig.simulator.remove(resting)
    #expect(try await rig.removal() == first.placement.number)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  @Test func aSessionGoesOnAsItBeganAndTheChangeCountsAfterIt() async throws {
    let rig = try await ReaderRig.inSession()
    await rig.configure(Self.polling(["type-4a"]))
    let id = await rig.simulator.place(try .type4B(message: uri("https://example.com/1")))
    let tag = try await rig.sessionTag()
    #expect(try await rig.perform(.read, tag) == .message(try uri("https://example.com/1")))
    await rig.simulator.remove(id)
    #expect(try await rig.sessionRemoval() == tag.placement.number)
    try await rig.end()
    await rig.setScanning(true)
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type4B(message: uri("https://example.com/2")))
    try await rig.commands(60)
    await rig.simulator.place(try .type4(message: uri("https://example.com/3")))
    #expect(try await rig.message().message == uri("https://example.com/3"))
    await rig.stop()
  }

  /// Letting the resting tag go is the first thing that is done with the device then.
  @Test func aChangeIsMadeWhollyWhereTheDeviceFailsAtThatMoment() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type4B(message: uri("https://example.com/1")))
    _ = try await rig.message()
    await rig.simulator.add(.silence(commands: 3))
    await rig.configure(Self.polling(["type-2"]))
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  @Test func aReaderThatIsAsleepOrLentStaysSo() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    try await rig.isAsleep()
    await rig.configure(Self.polling(["type-2"]))
    try await rig.isAsleep()
    #expect(await !rig.simulator.isFieldOn)
    await rig.lend(true)
    try await rig.expect(.lent(true))
    await rig.configure(Self.polling(["type-4a"]))
    try await rig.isAsleep()
    await rig.lend(false)
    await rig.setScanning(true)
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    try await rig.commands(60)
    await rig.simulator.removeAll()
    try await rig.commands(60)
    await rig.simulator.place(try .type4(message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  @Test func theNextProcessIsToldOfIt() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.configure(Self.polling(["type-4a"], interval: 30))
    let child = try ForeignProcess(try #require(await rig.process.processID))
    child.signal(9)
    _ = try await rig.crash()
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    await rig.simulator.place(try .type4(message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  @Test func intervalsBeyondTheBoundsCountAsTheNearest() throws {
    var options = try ReaderOptions(["--list"])
    options.take(Self.polling(interval: 0))
    #expect(options.pollInterval == .milliseconds(10))
    options.take(Self.polling(interval: 100_000))
    #expect(options.idlePollInterval == .milliseconds(10_000))
  }

  // MARK: What rests

  private let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  private let typeB = TagActivation.typeB(
    TypeBActivation(
      pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0xE1], attribResponse: [0])
  )

  @Test func whatIsNotLookedForAnyMoreIsForgottenAndTheDaemonKnowsIt() {
    var tracker = PlacementTracker([.typeA, .typeB])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    tracker.look(for: [.typeB]) { _ in true }
    #expect(tracker.resting.isEmpty)
    let key = TagFingerprint.Key(low: 1, high: 2)
    let fingerprint = TagFingerprint("type-2", tag.identifier, key)
    let known = KnownTags(key: key, tags: [KnownTag(number: 1, fingerprint: fingerprint, technology: "type-2")])
    tracker.know(known)
    // No look for it says that it is away.
    for _ in 1...3 { #expect(tracker.looked(for: .typeB, found: []) == []) }
    tracker.look(for: [.typeA, .typeB]) { _ in true }
    tracker.know(known)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.recognized(tag)])
    for _ in 1...2 { _ = tracker.looked(for: .typeA, found: []) }
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func `a tag of a kind that is looked for only from now on is announced`() {
    var tracker = PlacementTracker([.typeA])
    tracker.look(for: [.typeA, .typeB]) { _ in true }
    #expect(tracker.looked(for: .typeB, found: [typeB]) == [.arrived(1, typeB)])
  }
}
