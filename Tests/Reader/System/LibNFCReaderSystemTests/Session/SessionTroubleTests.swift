import Daemon
import Glibc
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests
@testable import ReaderProtocol

/// Sessions that lose their tag, reader or process, or that the daemon ends.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionTroubleTests {
  let long: String = "https://example.com/" + String(repeating: "x", count: 400)

  // MARK: Removed tags

  @Test(arguments: 1...9) func `a tag torn away during a read is lost and then removed`(exchange: Int) async throws {
    let rig = try await ReaderRig.inSession()
    let tag = try await rig.finds(try .type2(.ntag215, message: uri(long))).tag
    // The raw command stops the looks for other tags, so that only exchanges with this tag are counted.
    _ = try await rig.transceive([0x60], tag)
    await rig.simulator.add(.removal(exchange: exchange))
    let result = try await rig.perform(.read, tag)
    // With a high exchange number, the read may be complete before the tag is torn away.
    let message = try uri(long)
    #expect(result.failure == .tagLost || result == .message(message))
    #expect(try await rig.sessionRemoval() == tag.placement.number)
    #expect(try await rig.perform(.read, tag).failure == .tagLost)
  }

  /// The tag holds the old message, the new one or none. It is torn away at every exchange, before or after it received
  /// the command. `TearWalk` does this with each kind of tag.
  @Test(arguments: [TagKind.type2, .type3], [false, true])
  func `a tag torn away during a write holds no other message`(_ kind: TagKind, isHeard: Bool) async throws {
    let rig = try await ReaderRig.inSession()
    let (old, new) = (try uri("https://example.com/old/and/some/more"), try uri("https://example.com/new/and/others"))
    for exchange in 1...200 {
      let (id, tag) = try await rig.finds(try kind.make(old))
      await rig.simulator.add(.removal(exchange: exchange, heard: isHeard))
      let result = try await rig.perform(.write(new, verify: true), tag)
      let isTorn = await rig.simulator.tags.isEmpty
      await rig.simulator.clearFaults()
      let torn = try #require(await rig.simulator.remove(id))
      #expect(try await rig.sessionRemoval() == tag.placement.number)
      #expect(result == .done || result.failure == .tagLost, "exchange \(exchange): \(result)")
      let copy = await rig.simulator.place(torn)
      let back = try await rig.sessionTag()
      let content = try await rig.perform(.read, back)
      let isWhole = content == .message(old) || content == .message(new)
      #expect(isWhole || content.failure == .empty || kind == .type3 && content.failure == .refused, "\(content)")
      if result == .done { #expect(content == .message(new)) }
      try await rig.takeAway(copy, back)
      if !isTorn { break }
    }
  }

  enum Attention: CaseIterable { case none, type2, card, felica, topaz }

  /// The presence check depends on the kind of tag, and on whether the client has sent a raw command.
  @Test(arguments: Attention.allCases) func `the removal of a tag is noticed`(_ attention: Attention) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let (made, command): (SimulatedTag, [UInt8]) =
      switch attention {
      case .none, .type2: (try .type2(.ntag213, message: bytes), [0x60])
      case .card: (try .desfire(message: bytes), [0x60])
      case .felica: (try .type3(message: bytes, options: Type3Options(.standard)), [0x00, 0xFF, 0xFF, 0x01, 0x00])
      case .topaz: (try .type1(.topaz96, message: bytes), [0x78, 0, 0, 0, 0, 0, 0])
      }
    let (id, tag) = try await rig.finds(made)
    if attention != .none { _ = try await rig.transceive(command, tag) }
    try await rig.commands(10)
    #expect(!rig.seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
    try await rig.takeAway(id, tag)
    await rig.simulator.place(made)
    #expect(try await rig.sessionTag().placement.number != tag.placement.number)
  }

  @Test func `a lost frame does not end the placement`() async throws {
    let rig = try await ReaderRig.inSession()
    let tag = try await rig.finds(try .desfire(message: uri("https://example.com"))).tag
    _ = try await rig.transceive([0x60], tag)
    await rig.simulator.add(.radio(.unheard))
    try await rig.commands(10)
    #expect(try await rig.transceive([0xAF], tag).first == 0xAF)
    #expect(!rig.seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
  }

  // MARK: The process

  enum Moment: CaseIterable { case begun, found, engaged, reading, lent }

  /// Another session can begin afterwards, and the tag that lies there is not announced.
  @Test(arguments: Moment.allCases) func `a killed process ends only its session`(_ moment: Moment) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri(long)
    var tag: SessionTag?
    if moment != .begun {
      await rig.simulator.place(try .type2(.ntag215, message: bytes))
      tag = try await rig.sessionTag()
    }
    if moment == .engaged, let tag { _ = try await rig.transceive([0x60], tag) }
    let child = try #require(await rig.process.processID)
    if moment == .reading, let tag {
      kill(child, SIGSTOP)
      await rig.ask(.read, tag)
    }
    if moment == .lent { try await rig.startLoan() }
    kill(child, SIGKILL)
    if moment == .lent {
      _ = try await rig.crash()
      let commands = await rig.simulator.counters.commands
      await rig.lend(false)
      #expect(await rig.simulator.counters.commands == commands)
    } else {
      if moment == .reading { #expect(try await rig.result().failure == .deviceLost) }
      try await rig.next("the end of the session") { $0.isLoss ? true : nil }
      let crash = try await rig.crash()
      #expect(crash.suspect == (moment == .reading ? tag?.placement : nil))
    }
    try await rig.isReady()
    if moment == .begun { await rig.simulator.place(try .type2(.ntag215, message: bytes)) }
    try await rig.begin(TagSessionOptions(number: 2))
    let again = try await rig.sessionTag()
    #expect(try await rig.perform(.read, again, request: 2, session: 2) == .message(bytes))
    try await rig.end(2)
    #expect(try await rig.announcements().isEmpty)
  }

  // MARK: The reader

  @Test(arguments: [false, true]) func `unplugging the reader ends the session`(isReading: Bool) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri(long)
    let tag = try await rig.finds(try .type2(.ntag215, message: bytes)).tag
    if isReading {
      // After a raw command, few other commands are sent. One of them may be the first to fail.
      _ = try await rig.transceive([0x60], tag)
      await rig.simulator.add(.unplug(command: 2))
      await rig.ask(.read, tag)
      let failure = try await rig.next("the end of the session or of the operation") { event in
        switch event {
        case .performed(1, let result): result.failure
        case .phase(.failed, _), .phase(.absent, _): .deviceLost
        default: nil
        }
      }
      #expect(failure == .deviceLost)
    } else {
      await rig.simulator.unplug()
    }
    if !rig.seen.contains(where: \.isLoss) {
      try await rig.next("the end of the session") { $0.isLoss ? true : nil }
    }
    await rig.endSession(1)
    try await rig.simulator.plug()
    try await rig.isReady()
    try await rig.begin(TagSessionOptions(number: 2))
    let again = try await rig.sessionTag()
    #expect(try await rig.perform(.read, again, request: 2, session: 2) == .message(bytes))
  }

  // MARK: The daemon

  /// The read takes hundreds of exchanges. It ends after the current one.
  @Test func `a session can end in the middle of a long read`() async throws {
    let rig = try await ReaderRig.inSession(timing: .realistic)
    var options = Type4Options()
    options.fileSize = 32_000
    await rig.simulator.place(
      try .type4(message: uri("https://example.com/" + String(repeating: "x", count: 30_000)), options: options))
    let tag = try await rig.sessionTag()
    await rig.ask(.read, tag)
    try await rig.next("progress") { if case .progress = $0 { true } else { nil } }
    let before = await rig.simulator.counters.commands
    await rig.endSession(1)
    #expect(try await rig.result().failure == .sessionEnded)
    try await rig.expect(.sessionEnded(1))
    // The current exchange, the release and the field, and a few more until the daemon's command arrives.
    #expect(await rig.simulator.counters.commands - before < 12)
    #expect(await !rig.simulator.isFieldOn)
  }

  @Test func `operations are performed one after another`() async throws {
    try await ReaderRig.inSession().performsInOrder()
  }

  @Test func `a message longer than the socket buffer fails as too long for the tag`() async throws {
    let rig = try await ReaderRig.inSession()
    let tag = try await rig.finds(try .type2(.ntag215, message: uri("https://example.com"))).tag
    let huge = [UInt8](repeating: 0, count: ReaderLimits.message)
    for request: UInt64 in 1...3 { await rig.ask(.write(huge, verify: true), tag, request: request) }
    for request: UInt64 in 1...3 { #expect(try await rig.result(request).failure == .tooLong) }
    #expect(try await rig.perform(.read, tag) == .message(uri("https://example.com")))
  }
}
