import Glibc
import ReaderSimulator
import Rig
import Testing

@testable import ReaderLink

/// Sessions whose tag, reader, process or daemon goes away.
@Suite(.timeLimit(.minutes(5))) struct SessionTroubleTests {
  let long: String = "https://example.com/" + String(repeating: "x", count: 400)

  // MARK: Tags that are taken away

  @Test(arguments: 1...9) func aTagTornAwayInTheMiddleOfReadingIsLostAndThenRemoved(exchange: Int) async throws {
    let rig = try await ReaderRig.inSession()
    await rig.simulator.place(try .type2(.ntag215, message: uri(long)))
    let tag = try await rig.sessionTag()
    // The raw command keeps looks away, which are no exchanges with this tag.
    _ = try await rig.transceive([0x60], tag)
    await rig.simulator.add(.removal(exchange: exchange))
    let result = try await rig.perform(.read, tag)
    // The last exchanges may have been those of a check before.
    let message = try uri(long)
    #expect(result.failure == .tagLost || result == .message(message))
    #expect(try await rig.sessionRemoval() == tag.placement.number)
    #expect(try await rig.perform(.read, tag).failure == .tagLost)
    await rig.stop()
  }

  /// At every exchange of the writing, before and after the tag has heard it.
  @Test(arguments: SessionKind.allCases, [false, true])
  func aTagTornAwayWhileItIsWrittenHoldsTheOldMessageNoneOrTheNewOne(_ kind: SessionKind, isHeard: Bool) async throws {
    let rig = try await ReaderRig.inSession()
    let (old, new) = (try uri("https://example.com/old/and/some/more"), try uri("https://example.com/new/and/others"))
    for exchange in 1...200 {
      let id = await rig.simulator.place(try kind.make(old))
      let tag = try await rig.sessionTag()
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
      #expect(isWhole || content.failure == .empty || kind.saysDamaged && content.failure == .refused, "\(content)")
      if result == .done { #expect(content == .message(new)) }
      await rig.simulator.remove(copy)
      #expect(try await rig.sessionRemoval() == back.placement.number)
      if !isTorn { break }
    }
    await rig.stop()
  }

  enum Attention: CaseIterable { case none, type2, card, felica, topaz }

  /// Whether or not it is in the middle of something, and however it is asked.
  @Test(arguments: Attention.allCases) func aTagThatIsTakenAwayIsMissed(_ attention: Attention) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let (made, command): (SimulatedTag, [UInt8]) =
      switch attention {
      case .none, .type2: (try .type2(.ntag213, message: bytes), [0x60])
      case .card: (try .desfire(message: bytes), [0x60])
      case .felica: (try .type3(message: bytes, options: Type3Options(.standard)), [0x00, 0xFF, 0xFF, 0x01, 0x00])
      case .topaz: (try .type1(.topaz96, message: bytes), [0x78, 0, 0, 0, 0, 0, 0])
      }
    let id = await rig.simulator.place(made)
    let tag = try await rig.sessionTag()
    if attention != .none { _ = try await rig.transceive(command, tag) }
    try await rig.commands(10)
    #expect(!rig.seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
    await rig.simulator.remove(id)
    #expect(try await rig.sessionRemoval() == tag.placement.number)
    await rig.simulator.place(made)
    #expect(try await rig.sessionTag().placement.number != tag.placement.number)
    await rig.stop()
  }

  @Test func aFrameThatIsLostCostsNoStay() async throws {
    let rig = try await ReaderRig.inSession()
    await rig.simulator.place(try .desfire(message: uri("https://example.com")))
    let tag = try await rig.sessionTag()
    _ = try await rig.transceive([0x60], tag)
    await rig.simulator.add(.radio(.unheard))
    try await rig.commands(10)
    #expect(try await rig.transceive([0xAF], tag).first == 0xAF)
    #expect(!rig.seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
    await rig.stop()
  }

  // MARK: The process

  enum Moment: CaseIterable { case begun, found, engaged, reading, lent }

  /// - Returns: the session is over and another one begins, and nothing that lies there is announced.
  @Test(arguments: Moment.allCases) func aProcessThatIsKilledEndsTheSessionAlone(_ moment: Moment) async throws {
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
    if moment == .lent {
      await rig.lend(true)
      try await rig.expect(.lent(true))
    }
    kill(child, SIGKILL)
    if moment == .lent {
      _ = try await rig.next("a crash") { if case .crashed = $0 { true } else { nil } }
      let commands = await rig.simulator.counters.commands
      await rig.lend(false)
      #expect(await rig.simulator.counters.commands == commands)
    } else {
      if moment == .reading { #expect(try await rig.result().failure == .deviceLost) }
      try await rig.next("the end of the session") { $0.isLoss ? true : nil }
      let crash = try await rig.next("a crash") { if case .crashed(let crash) = $0 { crash } else { nil } }
      #expect(crash.suspect == (moment == .reading ? tag?.placement : nil))
    }
    try await rig.isReady()
    if moment == .begun { await rig.simulator.place(try .type2(.ntag215, message: bytes)) }
    try await rig.begin(ReaderSessionOptions(number: 2))
    let again = try await rig.sessionTag()
    #expect(try await rig.perform(.read, again, request: 2, session: 2) == .message(bytes))
    try await rig.end(2)
    #expect(try await rig.announcements().isEmpty)
    await rig.stop()
  }

  @Test func whatLiesThereWhenAProcessIsKilledIsNotAnnounced() async throws {
    let rig = try await ReaderRig.inSession()
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com/1"), uid: .random))
    _ = try await rig.sessionTag()
    kill(try #require(await rig.process.processID), SIGKILL)
    try await rig.next("the end of the session") { $0.isLoss ? true : nil }
    try await rig.next("a crash") { if case .crashed = $0 { true } else { nil } }
    try await rig.isReady()
    #expect(try await rig.announcements().isEmpty)
    await rig.simulator.remove(id)
    #expect(try await rig.announcements().isEmpty)
    await rig.simulator.place(try .type4(message: uri("https://example.com/2"), uid: .random))
    #expect(try await rig.announcements().count == 1)
    await rig.stop()
  }

  // MARK: The reader

  @Test(arguments: [false, true]) func aReaderThatIsUnpluggedEndsTheSession(isReading: Bool) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri(long)
    await rig.simulator.place(try .type2(.ntag215, message: bytes))
    let tag = try await rig.sessionTag()
    if isReading {
      // Few other commands come then; one of them may be what finds the reader gone.
      _ = try await rig.transceive([0x60], tag)
      await rig.simulator.add(.unplug(command: 2))
      await rig.ask(.read, tag)
      let failure = try await rig.next("the end of the session, or of the operation") { event in
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
    try await rig.begin(ReaderSessionOptions(number: 2))
    let again = try await rig.sessionTag()
    #expect(try await rig.perform(.read, again, request: 2, session: 2) == .message(bytes))
    await rig.stop()
  }

  // MARK: The daemon

  /// It ends between two exchanges, of which there are hundreds.
  @Test func aSessionThatIsEndedInTheMiddleOfALongReadEndsSoon() async throws {
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
    // The exchange that was under way, release, and the field; a few more until the order has arrived.
    #expect(await rig.simulator.counters.commands - before < 12)
    #expect(await !rig.simulator.isFieldOn)
    await rig.stop()
  }

  @Test func operationsWaitForOneAnother() async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri(long)
    await rig.simulator.place(try .type2(.ntag215, message: bytes))
    let tag = try await rig.sessionTag()
    for request in 1...5 { await rig.ask(request.isMultiple(of: 2) ? .query : .read, tag, request: UInt64(request)) }
    for request in 1...5 {
      let result = try await rig.result(UInt64(request))
      #expect(result == (request.isMultiple(of: 2) ? .status(.readWrite, capacity: 492) : .message(bytes)))
    }
    await rig.stop()
  }

  /// Longer than a socket holds.
  @Test func aMessageThatIsTooLongForTheTagIsRefusedWhateverItsLength() async throws {
    let rig = try await ReaderRig.inSession()
    await rig.simulator.place(try .type2(.ntag215, message: uri("https://example.com")))
    let tag = try await rig.sessionTag()
    let huge = [UInt8](repeating: 0, count: ReaderLimits.message)
    for request: UInt64 in 1...3 { await rig.ask(.write(huge, verify: true), tag, request: request) }
    for request: UInt64 in 1...3 { #expect(try await rig.result(request).failure == .tooLong) }
    #expect(try await rig.perform(.read, tag) == .message(uri("https://example.com")))
    await rig.stop()
  }
}
