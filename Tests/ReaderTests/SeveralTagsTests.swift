import Journal
import ReaderLink
import ReaderSimulator
import Rig
import Testing

/// More than one tag on a reader, and tags that make up identifiers.
@Suite(.timeLimit(.minutes(5))) struct SeveralTagsTests {
  /// The messages of the next so many tags, with their placements.
  func messages(_ count: Int, _ rig: ReaderRig) async throws -> [[UInt8]: UInt64] {
    var found: [[UInt8]: UInt64] = [:]
    for _ in 0..<count {
      let (message, placement) = try await rig.message()
      found[message] = placement.number
    }
    return found
  }

  @Test(arguments: [false, true]) func twoTagsAreBothReadAndLeaveOneByOne(isType4: Bool) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let (first, second) = (try uri("https://example.com/1"), try uri("https://example.com/2"))
    let tags = [
      first: await rig.simulator.place(try .type2(.ntag213, message: first)),
      second: await rig.simulator.place(try isType4 ? .type4(message: second) : .type2(.ntag215, message: second)),
    ]
    await rig.process.setScanning(true)
    let found = try await messages(2, rig)
    #expect(Set(found.keys) == [first, second])
    try await rig.commands(40)
    for message in [second, first] {
      await rig.simulator.remove(try #require(tags[message]))
      #expect(try await rig.removal() == found[message])
    }
    await rig.stop()
  }

  @Test(arguments: [false, true]) func aTagPutBesideOneThatRestsIsNoticed(isType4: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    let (first, second) = (try uri("https://example.com/1"), try uri("https://example.com/2"))
    let id = await rig.simulator.place(try isType4 ? .type4(message: first) : .type2(.ntag213, message: first))
    let (_, placement) = try await rig.message()
    try await rig.commands(20)
    await rig.simulator.place(try .type2(.ntag213, message: second))
    #expect(try await rig.message().message == second)
    // The first one is what it was.
    try await rig.commands(20)
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == placement.number)
    await rig.stop()
  }

  /// Whatever the device was doing with one of them when it failed.
  @Test(arguments: 1...24) func aDeviceThatFailsCostsNoneOfSeveralNewcomers(command: Int) async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type2(.ntag213, message: try uri("https://example.com/1")))
    _ = try await rig.message()
    let messages = [try uri("https://example.com/2"), try uri("https://example.com/3")]
    await rig.simulator.place(try .type2(.ntag213, message: messages[0]))
    await rig.simulator.place(try .type3(message: messages[1]))
    await rig.simulator.add(.corruptChecksum(command: command))
    let found = try await self.messages(2, rig)
    #expect(Set(found.keys) == Set(messages))
    // Those that rest are not announced again.
    try await rig.commands(40)
    let tags = rig.seen.count { if case .tag = $0 { true } else { false } }
    #expect(tags == 3)
    await rig.stop()
  }

  @Test func aPhoneWithARandomUIDIsOnePlacementWhateverTheFieldDoes() async throws {
    let rig = try await ReaderRig.scanning()
    let message = try uri("https://example.com")
    let id = await rig.simulator.place(try .type4(message: message, uid: .random))
    let (_, placement) = try await rig.message()
    for _ in 0..<2 {
      await rig.process.setScanning(false)
      try await rig.expect(.scanning(false))
      await rig.process.setScanning(true)
      try await rig.expect(.scanning(true))
      try await rig.commands(30)
    }
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == placement.number)
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 1)
    await rig.stop()
  }

  @Test func anotherPhoneOfTheSameMakeIsAnotherPlacement() async throws {
    let rig = try await ReaderRig.scanning()
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com/1"), uid: .random))
    let (_, placement) = try await rig.message()
    await rig.process.setScanning(false)
    try await rig.expect(.scanning(false))
    await rig.simulator.remove(id)
    await rig.simulator.place(try .type4(message: uri("https://example.com/2"), uid: .random))
    await rig.process.setScanning(true)
    try await rig.expect(.removed(placement: placement.number))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  @Test func aTagOfAKindThatIsNotConfiguredIsLeftAlone() async throws {
    let rig = try await ReaderRig(technologies: ["type-4a"])
    await rig.process.setScanning(true)
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    try await rig.next("a word on the tag") { event in
      if case .log(.debug, let line) = event, line.contains("type-2 is not configured") { true } else { nil }
    }
    await rig.simulator.place(try .type4(message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }
}
