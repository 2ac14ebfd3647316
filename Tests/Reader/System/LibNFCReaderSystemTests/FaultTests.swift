import Daemon
import EventLoop
import Glibc
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct FaultTests {
  enum Wrong: CaseIterable {
    case silent, hung, unplugged, corrupt, stale, behind, late

    func fault(_ command: Int) -> Fault {
      switch self {
      // Longer than libnfc retries.
      case .silent: .silence(commands: 3)
      case .hung: .stall(command: command)
      case .unplugged: .unplug(command: command)
      case .corrupt: .corruptChecksum(command: command)
      case .stale: .staleAnswer(command: command)
      case .behind: .fallBehind(command: command)
      case .late: .delay(.milliseconds(900), command: command)
      }
    }

    /// Whether the user has to unplug the reader and plug it in again.
    var needsHands: Bool { [.hung, .unplugged, .behind].contains(self) }
  }

  /// Each of these steps is a command: field off, a poll, the tag's exchanges, polls for other tags, presence checks.
  /// libnfc detects a stale answer to a different command. If data repeats (4), a further command to the chip detects a
  /// stale answer to the same command.
  /// Answers that stay behind are noticed at the next other command. Only a chip without power forgets them.
  /// `EachCommandTests` strikes at every command.
  static let moments: [(Wrong, Int)] =
    [.hung, .unplugged].flatMap { wrong in [1, 2, 3, 4, 8].map { (wrong, $0) } }
    + [
      (.corrupt, 1), (.corrupt, 3), (.corrupt, 4), (.late, 1), (.late, 3), (.silent, 1), (.stale, 4),
      (.behind, 1), (.behind, 4),
    ]

  @Test(arguments: moments)
  func `a fault at any command loses neither a tap nor the process`(wrong: Wrong, command: Int) async throws {
    let rig = try await ReaderRig.asleep()
    let child = await rig.process.processID
    let bytes = try uri("https://example.com/a/path/that/needs/more/than/two/exchanges/to/read")
    let id = await rig.simulator.place(try .type2(.ntag213, message: bytes))
    await rig.simulator.add(wrong.fault(command))
    await rig.setScanning(true)
    try await rig.next("a reader that has failed, with its name") { event in
      switch event {
      case .phase(.failed(let reason), _), .phase(.absent(let reason), _): reason.contains("/reader") ? true : nil
      default: nil
      }
    }
    if wrong.needsHands {
      await rig.simulator.unplug()
      // The same link now leads to another pseudo-terminal.
      try await rig.simulator.plug()
      await rig.process.lookForDevice()
    }
    try await rig.isReady()
    try await rig.commands(10)
    #expect(await rig.simulator.isFieldOn)
    await rig.simulator.remove(id)
    let next = try uri("https://example.com/next")
    await rig.simulator.place(try .type2(.ntag213, message: next))
    let message = try await rig.next("the next tag") { event in
      if case .tag(let report, _) = event, report.content == .message(next) { report } else { nil }
    }
    #expect(message.content == .message(next))
    // After the reader was unplugged, its tag may be announced again.
    let contents = rig.seen.compactMap { if case .tag(let report, _) = $0 { report.content } else { nil } }
    #expect(contents.count <= (wrong.needsHands ? 3 : 2) && contents.count >= 2)
    #expect(contents.dropLast().allSatisfy { $0 == .message(bytes) })
    try await rig.scan(false)
    #expect(await !rig.simulator.isFieldOn)
    // Another process may open the device that was plugged in again. No process has crashed.
    if !wrong.needsHands { #expect(await rig.process.processID == child) }
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// Without stale answers: the previous command was the same, so its answer is correct.
  @Test(arguments: Wrong.allCases.filter { $0 != .stale && $0 != .behind })
  func `a fault while no tags are wanted is noticed when a device is plugged in`(wrong: Wrong) async throws {
    let rig = try await ReaderRig.asleep(isFollowed: true)
    await rig.simulator.add(wrong.fault(1))
    await rig.process.lookForDevice()
    try await rig.next("a reader that has failed") { $0.isLoss ? true : nil }
    if wrong.needsHands { try await rig.plugAgain() }
    try await rig.isReady()
    try await rig.isAsleep()
  }

  @Test(arguments: Wrong.allCases)
  func `after a fault at the end of scanning, scanning can start again`(wrong: Wrong) async throws {
    let rig = try await ReaderRig.scanning()
    try await rig.announces("https://example.com")
    await rig.simulator.add(wrong.fault(1))
    await rig.setScanning(false)
    if wrong.needsHands {
      try await rig.next("a reader that has failed or is absent") { $0.isLoss ? true : nil }
      try await rig.plugAgain()
    }
    // The fault may strike before the command arrives. The field then goes off when the device is open again.
    try await rig.isAsleep()
    #expect(await !rig.simulator.isFieldOn)
    #expect(await rig.simulator.strikes > 0)
    await rig.simulator.clearFaults()
    try await rig.scan(true)
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct OpeningTests {
  /// Opening takes about 15 commands. `EachCommandTests` strikes at each of them.
  @Test(arguments: [1, 5, 9, 13])
  func `a fault while a device is opened does not end the process`(command: Int) async throws {
    let rig = try await ReaderRig(fault: .corruptChecksum(command: command))
    await rig.setScanning(true)
    // If the process crashes, this call throws.
    try await rig.expect(.scanning(true))
    #expect(await rig.simulator.strikes > 0)
    try await rig.announces("https://example.com")
  }

  /// The chip stops answering at one of these commands. The process reports the failure and stays alive.
  @Test(arguments: [1, 5, 9, 13])
  func `a chip that hangs while it is opened is reported as failed`(command: Int) async throws {
    let rig = try await ReaderRig(fault: .stall(command: command))
    try await rig.next("a reader that has failed") { if case .phase(.failed, _) = $0 { true } else { nil } }
    try await rig.plugAgain()
    try await rig.isReady()
  }
}

/// Devices that are absent while no tags are wanted.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct WaitingTests {
  @Test func `a process without a device sleeps until it receives a command`() async throws {
    let rig = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    try await rig.simulator.plug()
    await rig.process.lookForDevice()
    try await rig.isReady()
    try await rig.isAsleep()
    // The process checks that the device answers, and sleeps again.
    let commands = await rig.simulator.counters.commands
    await rig.process.lookForDevice()
    try await rig.simulator.wait { $0.counters.commands > commands }
    try await rig.isAsleep()
    await rig.simulator.unplug()
    await rig.process.lookForDevice()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    // No event reports the device, but tags are wanted.
    try await rig.simulator.plug()
    await rig.setScanning(true)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
  }

  @Test func `a sleeping process is not woken while another one works`() async throws {
    let absent = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    let suspended = try await ReaderRig()
    try await absent.isAsleep()
    try await suspended.isAsleep()
    let sleepers = [try #require(await absent.process.processID), try #require(await suspended.process.processID)]
    let before = try sleepers.map { try waits(of: $0) }
    let worker = try await ReaderRig.scanning()
    try await worker.commands(60)
    // Each process reports its sleep before it begins. That sleep is one wait. Waking up would add another.
    for (after, before) in zip(try sleepers.map { try waits(of: $0) }, before) { #expect(after - before <= 1) }
  }

  private func status(_ process: Int32) throws -> [Substring] {
    String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self).split(separator: "\n")
  }

  /// How often a process has gone to sleep voluntarily.
  private func waits(of process: Int32) throws -> Int {
    let line = try status(process).first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
  }
}

/// Two readers of one daemon, which serves both on one thread.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SeveralReadersFaultTests {
  @Test func `taps of one reader come in order while the process of the other hangs`() async throws {
    let loop = EventLoop(label: "daemon")
    let good = try await ReaderRig.scanning(loop: loop)
    let bad = try await ReaderRig.scanning(loop: loop)
    let wedged = try #require(await bad.process.processID)
    kill(wedged, SIGSTOP)
    try await expectTaps(5, on: good)
    let crash = try await bad.crash()
    #expect(crash.reason == "it was not heard of in time")
    try await bad.isReady()
    try await bad.expect(.scanning(true))
    try await expectTaps(1, on: good)
    try await bad.announces("https://example.com/again")
  }

  /// Places and removes tags one by one. Expects one tap and one removal for each, in order, and no change of the
  /// reader's phase.
  private func expectTaps(_ count: Int, on rig: ReaderRig) async throws {
    let before = rig.seen.count
    var placements: [UInt64] = []
    for number in 1...count {
      let message = try uri("https://example.com/\(number)")
      let id = await rig.simulator.place(try .type2(.ntag213, message: message))
      let tap = try await rig.message()
      #expect(tap.message == message)
      try await rig.takeAway(id, tap.placement)
      placements.append(tap.placement.number)
    }
    #expect(zip(placements, placements.dropFirst()).allSatisfy { $0 < $1 }, "\(placements)")
    for event in rig.seen[before...] {
      switch event {
      case .phase, .crashed: Issue.record("the working reader was disturbed: \(event)")
      default: break
      }
    }
  }
}
