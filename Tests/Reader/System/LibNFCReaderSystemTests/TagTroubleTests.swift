import Daemon
import Glibc
import NDEF
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagTroubleTests {
  @Test func `an ATS of length zero is reported and does not end the process`() async throws {
    let rig = try await ReaderRig.scanning()
    let child = await rig.process.processID
    let options = Type4Options { $0.ats = [0x00] }
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com/1"), options: options))
    let reason = try #require(try await rig.tag().problem)
    #expect(reason.hasPrefix("damaged: the card's answer to select"))
    try await rig.commands(10)
    await rig.simulator.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/2")
    #expect(await rig.process.processID == child)
  }

  @Test func `a tag that crashes the reader process is named and ignored until it is removed`() async throws {
    let rig = try await ReaderRig.scanning()
    let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
    // libnfc calls abort() if bit 7 of a status byte is set.
    await rig.simulator.add(.status(0x80))
    let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1"), uid: .fixed(uid)))
    let crash = try await rig.crash()
    #expect(crash.reason.hasPrefix("killed by signal 6"))
    #expect(crash.suspect?.uid == uid)
    #expect(crash.restart == .zero)
    try await rig.next("a log line about the tag") { event in
      if case .log(_, let line) = event, line.contains("04010203040506 is ignored") { true } else { nil }
    }
    try await rig.commands(10)
    await rig.simulator.remove(id)
    try await rig.announces("https://example.com/2")
    await rig.simulator.removeAll()
    _ = try await rig.removal()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1"), uid: .fixed(uid)))
    #expect(try await rig.message().placement.uid == uid)
  }

  @Test(arguments: 1...4) func `a tag torn away during a read is read when it is back`(exchange: Int) async throws {
    let rig = try await ReaderRig.scanning()
    let bytes = try uri("https://example.com/a/path/that/needs/more/than/two/exchanges/to/read")
    await rig.simulator.add(.removal(exchange: exchange))
    await rig.simulator.place(try .type2(.ntag213, message: bytes))
    // Wait until no tag is on the reader.
    try await rig.simulator.wait { $0.tags.isEmpty }
    await rig.simulator.place(try .type2(.ntag213, message: bytes))
    #expect(try await rig.message().message == bytes)
  }

  @Test func `a damaged tag is reported once with the reason`() async throws {
    let rig = try await ReaderRig.scanning()
    let options = Type4Options { $0.declaredLength = 0xFFF0 }
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    #expect(try await rig.tag().problem == "damaged: the NDEF message is longer than the file that holds it")
    try await rig.commands(10)
    await rig.simulator.remove(id)
    _ = try await rig.removal()

    await rig.simulator.place(try .type2(.ntag213, contents: [0x03, 0xFF, 0xFF, 0xFF]))
    #expect(try await rig.tag().problem == "damaged: a TLV block is longer than the memory that the tag has for it")
  }

  /// A second attempt selects the tag by its UID. Clones exist that support no selection without anticollision.
  @Test func `a damaged tag that cannot be selected by its UID is reported once`() async throws {
    let rig = try await ReaderRig.scanning()
    let options = Type4Options { ($0.declaredLength, $0.needsAnticollision) = (0xFFF0, true) }
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    let report = try await rig.tag()
    #expect(report.problem == "damaged: the NDEF message is longer than the file that holds it")
    let begin = await rig.simulator.commands.count
    try await rig.commands(60)
    #expect(await !rig.simulator.commands[begin...].contains { $0.command.first == 0x40 })
    try await rig.takeAway(id, report.placement)
  }

  /// The device fails at each of these commands in turn, even while it releases the tag after the last attempt.
  @Test(arguments: 30...40) func `a damaged tag is reported once even if the device fails`(command: Int) async throws {
    let rig = try await ReaderRig.scanning()
    let options = Type4Options { ($0.declaredLength, $0.needsAnticollision) = (0xFFF0, true) }
    await rig.simulator.add(.corruptChecksum(command: command))
    await rig.simulator.place(try .type4(message: uri("https://example.com"), options: options))
    try await rig.commands(command + 100)
    await rig.stop()
    // Read all remaining events.
    _ = try? await rig.next("the end of the events") { _ in nil as Bool? }
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 1, "\(rig.seen)")
  }

  /// Beside another tag, it cannot even be read.
  @Test func `a tag beside another one that cannot be selected by its UID is reported once`() async throws {
    let rig = try await ReaderRig.scanning()
    let (first, placement) = try await rig.announces("https://example.com/1")
    let options = Type4Options { $0.needsAnticollision = true }
    await rig.simulator.place(try .type4(message: uri("https://example.com/2"), options: options))
    #expect(try await rig.tag().problem == "damaged: the reader finds the tag but cannot select it")
    try await rig.commands(60)
    try await rig.takeAway(first, placement)
  }

  /// The tag has a new UID each time. The reader process would have to read it to recognise the resting tag.
  @Test func `a tag that may be the resting one and cannot be selected is reported once`() async throws {
    let rig = try await ReaderRig.scanning()
    let options = Type4Options { $0.needsAnticollision = true }
    await rig.simulator.place(try .type4(message: uri("https://example.com"), uid: .random, options: options))
    let (_, placement) = try await rig.message()
    try await rig.scan(false)
    await rig.setScanning(true)
    try await rig.expect(.removed(placement: placement.number))
    #expect(try await rig.tag().problem == "damaged: the reader finds the tag but cannot select it")
    try await rig.commands(60)
    await rig.stop()
    _ = try? await rig.next("the end of the events") { _ in nil as Bool? }
    #expect(rig.seen.count { if case .tag = $0 { true } else { false } } == 2)
  }

  @Test func `a tag that takes too long to read is reported as a problem`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let bytes = try uri("https://example.com/\(String(repeating: "a", count: 3000))")
    let options = Type4Options { $0.maximumRead = 15 }
    // About 200 answers, each so late that they cannot all come in time.
    for command in 1...250 { await rig.simulator.add(.delay(.milliseconds(100), command: command)) }
    await rig.simulator.place(try .type4(message: bytes, options: options))
    await rig.setScanning(true)
    #expect(try await rig.tag().problem == "unsupported: the tag takes too long to answer")
  }
}
