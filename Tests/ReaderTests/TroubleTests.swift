import Glibc
import NDEF
import ReaderLink
import ReaderSimulator
import Rig
import Testing

@testable import Reader

/// Tags, readers and processes that misbehave.
@Suite(.timeLimit(.minutes(5))) struct TroubleTests {
  func problem(_ report: TagReport) -> String? {
    if case .problem(let reason) = report.content { reason } else { nil }
  }

  // MARK: Tags

  @Test func anATSOfLengthZeroCostsNothing() async throws {
    let rig = try await ReaderRig.scanning()
    let child = await rig.process.processID
    var options = Type4Options()
    options.ats = [0x00]
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com/1"), options: options))
    let reason = try #require(problem(try await rig.tag()))
    #expect(reason.hasPrefix("damaged: the card's answer to select"))
    try await rig.commands(10)
    await rig.simulator.remove(id)
    _ = try await rig.removal()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    #expect(await rig.process.processID == child)
    await rig.stop()
  }

  @Test func aTagThatEndsTheProcessIsNamedAndLeftAloneUntilItIsAway() async throws {
    let rig = try await ReaderRig.scanning()
    let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
    // Bit 7 of a status byte is what libnfc calls abort() for.
    await rig.simulator.add(.status(0x80))
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1"), uid: .fixed(uid)))
    let crash = try await rig.crash()
    #expect(crash.reason.hasPrefix("killed by signal 6"))
    #expect(crash.suspect?.uid == uid)
    #expect(crash.restart == .zero)
    try await rig.next("a word on the tag") { event in
      if case .log(_, let line) = event, line.contains("04010203040506 is left alone") { true } else { nil }
    }
    try await rig.commands(10)
    await rig.simulator.remove(id)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.simulator.removeAll()
    _ = try await rig.removal()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1"), uid: .fixed(uid)))
    #expect(try await rig.message().placement.uid == uid)
    await rig.stop()
  }

  @Test(arguments: 1...4) func aTagTornAwayWhileItIsReadIsReadWhenItIsBack(exchange: Int) async throws {
    let rig = try await ReaderRig.scanning()
    let bytes = try uri("https://example.com/a/path/that/needs/more/than/two/exchanges/to/read")
    await rig.simulator.add(.removal(exchange: exchange))
    await rig.simulator.place(try .type2(.ntag213, message: bytes))
    // It is away when nothing is on the reader any more.
    await rig.simulator.wait { $0.tags.isEmpty }
    await rig.simulator.place(try .type2(.ntag213, message: bytes))
    #expect(try await rig.message().message == bytes)
    await rig.stop()
  }

  @Test func aDamagedTagIsReportedOnceWithItsReason() async throws {
    let rig = try await ReaderRig.scanning()
    var options = Type4Options()
    options.declaredLength = 0xFFF0
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    #expect(
      problem(try await rig.tag()) == "damaged: the NDEF message is longer than the file that holds it")
    try await rig.commands(10)
    await rig.simulator.remove(id)
    _ = try await rig.removal()

    await rig.simulator.place(try .type2(.ntag213, contents: [0x03, 0xFF, 0xFF, 0xFF]))
    #expect(
      problem(try await rig.tag()) == "damaged: a TLV block is longer than the memory that the tag has for it")
    await rig.stop()
  }

  /// A clone that knows no select without anticollision is not found by its UID, which a second attempt takes.
  @Test func aDamagedTagThatCannotBeSelectedByItsUIDIsReportedOnce() async throws {
    let rig = try await ReaderRig.scanning()
    var options = Type4Options()
    options.declaredLength = 0xFFF0
    options.needsAnticollision = true
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    let report = try await rig.tag()
    #expect(problem(report) == "damaged: the NDEF message is longer than the file that holds it")
    let begin = await rig.simulator.commands.count
    try await rig.commands(60)
    #expect(await !rig.simulator.commands[begin...].contains { $0.command.first == 0x40 })
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == report.placement.number)
    await rig.stop()
  }

  /// Beside another one it is not even read.
  @Test func aTagThatCannotBeSelectedByItsUIDIsReportedOnce() async throws {
    let rig = try await ReaderRig.scanning()
    let first = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    let (_, placement) = try await rig.message()
    var options = Type4Options()
    options.needsAnticollision = true
    await rig.simulator.place(try .type4(message: uri("https://example.com/2"), options: options))
    #expect(problem(try await rig.tag()) == "damaged: the tag is found, but cannot be selected")
    try await rig.commands(60)
    await rig.simulator.remove(first)
    #expect(try await rig.removal() == placement.number)
    await rig.stop()
  }

  @Test func aTagThatTakesTooLongIsAProblem() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let bytes = try uri("https://example.com/\(String(repeating: "a", count: 3000))")
    var options = Type4Options()
    options.maximumRead = 15
    // Some 200 answers, each late enough that not all of them can come in time.
    for command in 1...250 { await rig.simulator.add(.delay(.milliseconds(100), command: command)) }
    await rig.simulator.place(try .type4(message: bytes, options: options))
    await rig.process.setScanning(true)
    #expect(problem(try await rig.tag()) == "unsupported: the tag takes too long to answer")
    await rig.stop()
  }

  // MARK: Readers

  @Test func aReaderThatIsUnpluggedIsFoundAgain() async throws {
    let rig = try await ReaderRig.scanning()
    let child = await rig.process.processID
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    let (_, placement) = try await rig.message()
    await rig.simulator.unplug()
    await rig.simulator.remove(id)
    try await rig.expect(.scanning(false))
    try await rig.expect(.removed(placement: placement.number))
    try await rig.simulator.plug()
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    #expect(await rig.process.processID == child)
    await rig.stop()
  }

  @Test func aReaderThatComesLaterIsFound() async throws {
    let rig = try await ReaderRig(isPluggedIn: false)
    await rig.process.setScanning(true)
    try await rig.next("a reader that is absent") { if case .state(.absent) = $0 { true } else { nil } }
    try await rig.simulator.plug()
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    #expect(try await rig.message().message == uri("https://example.com"))
    await rig.stop()
  }

  @Test func aCommandThatGoesWrongOnTheWireIsNoNewPlacement() async throws {
    let rig = try await ReaderRig.scanning()
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    let (_, placement) = try await rig.message()
    await rig.simulator.add(.corruptChecksum())
    try await rig.isReady()
    try await rig.commands(10)
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == placement.number)
    await rig.stop()
  }

  @Test func aChipThatHangsIsNamedAndUsedAgainOnceItIsPluggedInAnew() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.add(.stall())
    try await rig.next("a reader that has failed") { event in
      if case .state(.failed(let reason)) = event, reason.contains("does not answer") { true } else { nil }
    }
    await rig.simulator.unplug()
    try await rig.simulator.plug()
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    #expect(try await rig.message().message == uri("https://example.com"))
    await rig.stop()
  }

  /// Nothing says that the field is off before that is so: what switches it off is the opening of the device.
  @Test func aFieldThatNobodyCanSwitchOffIsNotSaidToBeOff() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    _ = try await rig.message()
    #expect(await rig.simulator.isFieldOn)
    await rig.simulator.add(.silence())
    await rig.process.setScanning(false)
    let start = rig.seen.count
    try await rig.next("a word on the field") { event in
      if case .state(.failed(let reason)) = event, reason.contains("its field may be on") { true } else { nil }
    }
    #expect(await rig.simulator.isFieldOn)
    #expect(!rig.seen[start...].contains(.scanning(false)))
    await rig.simulator.clearFaults()
    try await rig.expect(.scanning(false))
    #expect(await !rig.simulator.isFieldOn)
    await rig.stop()
  }

  @Test func aChipThatRefusesEverythingHasFailedUntilItWorks() async throws {
    let rig = try await ReaderRig.scanning()
    for fault in [Fault.refusal(), .status(0x27, times: nil)] {
      await rig.simulator.add(fault)
      let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
      try await rig.next("a reader that has failed") { if case .state(.failed) = $0 { true } else { nil } }
      await rig.simulator.remove(id)
      await rig.simulator.clearFaults()
      try await rig.isReady()
      try await rig.commands(20)
      let next = try uri("https://example.com/2")
      let other = await rig.simulator.place(try .type2(.ntag213, message: next))
      try await rig.next("the next tag") { event in
        if case .tag(let report) = event, report.content == .message(next) { true } else { nil }
      }
      await rig.simulator.remove(other)
      try await rig.commands(40)
    }
    await rig.stop()
  }

  /// As long as the device is there, its tags are what they were.
  @Test func aTagThatRestsOutlastsADeviceThatFailsForLong() async throws {
    let rig = try await ReaderRig.scanning()
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    let (_, placement) = try await rig.message()
    let before = await rig.simulator.commands.count
    await rig.simulator.add(.refusal())
    // Each time that it is opened begins with this one.
    await rig.simulator.wait { simulator in
      simulator.commands.dropFirst(before).count { $0.command.first == 0x14 } > OpeningSchedule.pauses.count
    }
    await rig.simulator.clearFaults()
    try await rig.isReady()
    try await rig.commands(40)
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == placement.number)
    await rig.stop()
  }

  /// A phone that has another identifier after each failure may be the one that rests: that is tried a few times only.
  @Test func aTagThatFailsTheDeviceWheneverItIsComparedIsAProblemInTheEnd() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type4(message: uri("https://example.com"), uid: .random))
    let (_, placement) = try await rig.message()
    await rig.process.setScanning(false)
    try await rig.expect(.scanning(false))
    await rig.simulator.add(.refusal(exchangesOnly: true))
    await rig.process.setScanning(true)
    let report = try await rig.tag()
    #expect(problem(report)?.hasPrefix("the reader failed each time it was read") == true)
    #expect(rig.seen.contains(.removed(placement: placement.number)))
    await rig.stop()
  }

  // MARK: Processes

  @Test(arguments: [SIGKILL, SIGSTOP]) func aProcessThatIsGoneOrWedgedIsReplaced(signal: Int32) async throws {
    let rig = try await ReaderRig.scanning()
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    _ = try await rig.message()
    let child = try #require(await rig.process.processID)
    kill(child, signal)
    let crash = try await rig.crash()
    #expect(crash.suspect == nil)
    #expect(crash.reason == (signal == SIGKILL ? "killed by signal 9 (Killed)" : "it was not heard of in time"))
    #expect(crash.restart == .zero)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    #expect(await rig.process.processID != child)
    // Nothing is left of the first one, a zombie least of all.
    #expect(kill(child, 0) == -1 && errno == ESRCH)
    // The tag that rests there was announced by the first one.
    try await rig.commands(10)
    await rig.simulator.remove(id)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    await rig.stop()
  }

  /// Its identifier is another one for the next process, which switches the field off first.
  @Test(arguments: [false, true]) func aCardWithARandomIdentifierIsNotAnnouncedByTheNextProcess(isTypeB: Bool)
    async throws
  {
    let rig = try await ReaderRig.scanning()
    let message = try uri("https://example.com/1")
    let id = await rig.simulator.place(
      try isTypeB ? .type4B(message: message, pupi: .random) : .type4(message: message, uid: .random))
    _ = try await rig.message()
    kill(try #require(await rig.process.processID), SIGKILL)
    _ = try await rig.crash()
    try await rig.expect(.scanning(true))
    try await rig.commands(40)
    await rig.simulator.remove(id)
    try await rig.commands(40)
    // The next one of its kind is announced.
    let next = try uri("https://example.com/2")
    await rig.simulator.place(
      try isTypeB ? .type4B(message: next, pupi: .random) : .type4(message: next, uid: .random))
    #expect(try await rig.message().message == next)
    await rig.stop()
  }

  @Test func stoppingLeavesNoProcessAndNoField() async throws {
    let rig = try await ReaderRig.scanning()
    let child = try #require(await rig.process.processID)
    await rig.process.stop()
    #expect(kill(child, 0) == -1 && errno == ESRCH)
    #expect(await !rig.simulator.isFieldOn)
    await rig.stop()
  }
}
