import Glibc
import NDEF
import ReaderLink
import ReaderSimulator
import Rig
import Testing

@testable import Reader

/// Tags that misbehave.
@Suite(.timeLimit(.minutes(5))) struct TagTroubleTests {
  @Test func anATSOfLengthZeroCostsNothing() async throws {
    let rig = try await ReaderRig.scanning()
    let child = await rig.process.processID
    var options = Type4Options()
    options.ats = [0x00]
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com/1"), options: options))
    let reason = try #require(try await rig.tag().problem)
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
      try await rig.tag().problem == "damaged: the NDEF message is longer than the file that holds it")
    try await rig.commands(10)
    await rig.simulator.remove(id)
    _ = try await rig.removal()

    await rig.simulator.place(try .type2(.ntag213, contents: [0x03, 0xFF, 0xFF, 0xFF]))
    #expect(
      try await rig.tag().problem == "damaged: a TLV block is longer than the memory that the tag has for it")
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
    #expect(report.problem == "damaged: the NDEF message is longer than the file that holds it")
    let begin = await rig.simulator.commands.count
    try await rig.commands(60)
    #expect(await !rig.simulator.commands[begin...].contains { $0.command.first == 0x40 })
    await rig.simulator.remove(id)
    #expect(try await rig.removal() == report.placement.number)
    await rig.stop()
  }

  /// Whatever the device was doing when it failed, and be it that it let go of the tag of which all was known.
  @Test(arguments: 30...40) func aDamagedTagIsReportedOnceThoughTheDeviceFails(command: Int) async throws {
    let rig = try await ReaderRig.scanning()
    var options = Type4Options()
    options.declaredLength = 0xFFF0
    options.needsAnticollision = true
    await rig.simulator.add(.corruptChecksum(command: command))
    await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    try await rig.commands(command + 100)
    await rig.stop()
    // All that was said until then.
    _ = try? await rig.next("nothing more") { _ in nil as Bool? }
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 1, "\(rig.seen)")
  }

  /// Beside another one it is not even read.
  @Test func aTagThatCannotBeSelectedByItsUIDIsReportedOnce() async throws {
    let rig = try await ReaderRig.scanning()
    let first = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
    let (_, placement) = try await rig.message()
    var options = Type4Options()
    options.needsAnticollision = true
    await rig.simulator.place(try .type4(message: uri("https://example.com/2"), options: options))
    #expect(try await rig.tag().problem == "damaged: the tag is found, but cannot be selected")
    try await rig.commands(60)
    await rig.simulator.remove(first)
    #expect(try await rig.removal() == placement.number)
    await rig.stop()
  }

  /// It makes up another UID each time, so that whether it is the one that rests cannot be told without reading it.
  @Test func aTagThatMayBeTheOneThatRestsAndCannotBeSelectedIsReportedOnce() async throws {
    let rig = try await ReaderRig.scanning()
    var options = Type4Options()
    options.needsAnticollision = true
    await rig.simulator.place(try .type4(message: uri("https://example.com"), uid: .random, options: options))
    let (_, placement) = try await rig.message()
    await rig.setScanning(false)
    try await rig.expect(.scanning(false))
    await rig.setScanning(true)
    try await rig.expect(.removed(placement: placement.number))
    #expect(try await rig.tag().problem == "damaged: the tag is found, but cannot be selected")
    try await rig.commands(60)
    await rig.stop()
    _ = try? await rig.next("nothing more") { _ in nil as Bool? }
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
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
    await rig.setScanning(true)
    #expect(try await rig.tag().problem == "unsupported: the tag takes too long to answer")
    await rig.stop()
  }
}
