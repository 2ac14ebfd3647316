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

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TroubleTests {
  @Test func `an unplugged reader is found again`() async throws {
    let rig = try await ReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com/1")
    await rig.simulator.unplug()
    await rig.simulator.remove(id)
    try await rig.expect(.scanning(false))
    try await rig.expect(.removed(placement: placement.number))
    try await rig.simulator.plug()
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    try await rig.announces("https://example.com/2")
    // Another process may have replaced the first one, but none has crashed.
    #expect(!rig.seen.contains { $0.isCrash })
  }

  @Test func `a chip that hangs is reported and used again after it is plugged in again`() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.add(.stall())
    try await rig.next("a failed reader") { event in
      if case .phase(.failed(let reason), _) = event, reason.contains("does not answer") { true } else { nil }
    }
    await rig.simulator.unplug()
    try await rig.simulator.plug()
    try await rig.isReady()
    try await rig.announces("https://example.com")
  }

  /// To switch the field off, the reader process opens the device again. It must not report an open device before that.
  @Test func `a field that cannot be switched off is not reported as off`() async throws {
    let rig = try await ReaderRig.scanning()
    try await rig.announces("https://example.com")
    #expect(await rig.simulator.isFieldOn)
    await rig.simulator.add(.silence())
    await rig.setScanning(false)
    let start = rig.seen.count
    try await rig.next("a failure that mentions the field") { event in
      if case .phase(.failed(let reason), _) = event, reason.contains("its field may be on") { true } else { nil }
    }
    #expect(await rig.simulator.isFieldOn)
    #expect(!rig.seen[start...].contains { if case .phase(let phase, _) = $0 { phase.isOpen } else { false } })
    await rig.simulator.clearFaults()
    try await rig.isReady()
    #expect(await !rig.simulator.isFieldOn)
  }

  @Test func `a chip that rejects every command is reported as failed until it works`() async throws {
    let rig = try await ReaderRig.scanning()
    for fault in [Fault.refusal(), .status(0x27, times: nil)] {
      await rig.simulator.add(fault)
      let id = await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/1")))
      try await rig.next("a failed reader") { if case .phase(.failed, _) = $0 { true } else { nil } }
      await rig.simulator.remove(id)
      await rig.simulator.clearFaults()
      try await rig.isReady()
      try await rig.commands(20)
      let next = try uri("https://example.com/2")
      let other = await rig.simulator.place(try .type2(.ntag213, message: next))
      try await rig.next("the next tag") { event in
        if case .tag(let report, _) = event, report.content == .message(next) { true } else { nil }
      }
      await rig.simulator.remove(other)
      try await rig.commands(40)
    }
  }

  /// Tags keep their placements as long as the device is plugged in.
  @Test func `a resting tag keeps its placement while the device fails for a long time`() async throws {
    let rig = try await ReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com")
    let before = await rig.simulator.commands.count
    await rig.simulator.add(.refusal())
    // At each attempt to open the device, this is the one command that the chip hears at its higher rate.
    try await rig.simulator.wait { simulator in
      simulator.commands.dropFirst(before).count { $0.command == [0x10, 0x04] } > OpeningSchedule.pauses.count
    }
    await rig.simulator.clearFaults()
    try await rig.isReady()
    try await rig.commands(40)
    try await rig.takeAway(id, placement)
  }

  /// A phone has a new identifier after each failure and may be the resting tag. It is compared only a few times.
  @Test func `a tag that makes the device fail at each comparison becomes a problem`() async throws {
    let rig = try await ReaderRig.scanning()
    await rig.simulator.place(try .type4(message: uri("https://example.com"), uid: .random))
    let (_, placement) = try await rig.message()
    try await rig.scan(false)
    await rig.simulator.add(.refusal(exchangesOnly: true))
    await rig.setScanning(true)
    let report = try await rig.tag()
    #expect(report.problem?.hasPrefix("the reader failed at each attempt to read the tag") == true)
    #expect(rig.seen.contains(.removed(placement: placement.number)))
  }

  // MARK: Processes

  @Test(arguments: [SIGKILL, SIGSTOP]) func `a killed or hanging process is replaced`(signal: Int32) async throws {
    let rig = try await ReaderRig.scanning()
    let (id, _) = try await rig.announces("https://example.com/1")
    let child = try #require(await rig.process.processID)
    kill(child, signal)
    let crash = try await rig.crash()
    #expect(crash.suspect == nil)
    #expect(crash.reason == (signal == SIGKILL ? "killed by signal 9 (Killed)" : "it was not heard of in time"))
    #expect(crash.restart == .zero)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    #expect(await rig.process.processID != child)
    // The first process is gone. It is not even a zombie.
    #expect(kill(child, 0) == -1 && errno == ESRCH)
    // The first process announced the resting tag.
    try await rig.commands(10)
    await rig.simulator.remove(id)
    try await rig.announces("https://example.com/2")
  }

  /// The next process switches the field off first, so the card has a new identifier.
  @Test(arguments: [false, true])
  func `a card with a random identifier is not announced by the next process`(isTypeB: Bool) async throws {
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
    // The next card of the same kind is announced.
    let next = try uri("https://example.com/2")
    await rig.simulator.place(try isTypeB ? .type4B(message: next, pupi: .random) : .type4(message: next, uid: .random))
    #expect(try await rig.message().message == next)
  }

  @Test func `a tag placed while a process is replaced is announced once`() async throws {
    let rig = try await ReaderRig.scanning()
    kill(try #require(await rig.process.processID), SIGKILL)
    let message = try uri("https://example.com/1")
    await rig.simulator.place(try .type2(.ntag213, message: message))
    _ = try await rig.crash()
    #expect(try await rig.message().message == message)
    try await rig.commands(40)
    kill(try #require(await rig.process.processID), SIGKILL)
    _ = try await rig.crash()
    try await rig.expect(.scanning(true))
    try await rig.commands(40)
    await rig.simulator.removeAll()
    _ = try await rig.removal()
  }
}
