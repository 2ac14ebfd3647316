import Daemon
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderSystemTests
@testable import LibNFCReaderTests

/// A chip with one fault, at each command from the opening of the device to the presence checks of resting tags.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct EachCommandTests {
  enum Wrong: CaseIterable {
    case silent, corrupt, late, stale, short, brokenOff

    func fault(_ command: Int) -> Fault {
      switch self {
      // Longer than libnfc retries.
      case .silent: .silence(commands: 3, from: command)
      case .corrupt: .corruptChecksum(command: command)
      // Longer than the reader process waits, so the answer arrives unexpectedly.
      case .late: .delay(.milliseconds(450), command: command)
      case .stale: .staleAnswer(command: command)
      case .short: .shortAnswer(command: command)
      case .brokenOff: .brokenOff(command: command)
      }
    }
  }

  /// Opening takes about 14 commands. The first tag is found about 2 commands later. About 20 commands after that, the
  /// second poll for other tags beside the resting ones follows.
  static let chunks = [1...12, 13...22, 23...32, 33...42]

  static let cases = Wrong.allCases.flatMap { wrong in
    chunks.map { (wrong, $0, false) } + chunks.dropFirst().map { (wrong, $0, true) }
  }

  @Test(arguments: cases)
  func `each placement is announced once despite a fault`(
    _ wrong: Wrong, _ commands: ClosedRange<Int>, _ areTwo: Bool
  ) async throws {
    // Readers mostly wait for answers that never arrive. Several readers can wait at the same time.
    try await withThrowingTaskGroup(of: Void.self) { group in
      // A few commands per process, because the number of its state changes is limited.
      for first in stride(from: commands.lowerBound, through: commands.upperBound, by: 4) {
        group.addTask {
          try await Self.strike(wrong, at: first...min(first + 3, commands.upperBound), areTwo: areTwo)
        }
      }
      try await group.waitForAll()
    }
  }

  private static func strike(_ wrong: Wrong, at commands: ClosedRange<Int>, areTwo: Bool) async throws {
    let rig = try await ReaderRig(isPluggedIn: false)
    let messages = [
      try uri("https://example.com/a/path/that/needs/more/than/two/exchanges/to/read"),
      try uri("https://example.com/2"),
    ].prefix(areTwo ? 2 : 1)
    for command in commands { try await rig.strike(wrong, at: command, messages: Array(messages)) }
  }
}

extension ReaderRig {
  /// Plugs in a reader with tags on it, injects a fault, and expects one announcement and one removal for each tag.
  fileprivate func strike(_ wrong: EachCommandTests.Wrong, at command: Int, messages: [[UInt8]]) async throws {
    let start = seen.count
    for (index, message) in messages.enumerated() {
      await simulator.place(try index == 0 ? .type2(.ntag213, message: message) : .type4(message: message))
    }
    let struck = await simulator.counters.commands + command
    let strikes = await simulator.strikes
    await simulator.add(wrong.fault(command))
    try await simulator.plug()
    await setScanning(true)
    await process.lookForDevice()
    try await next("\(messages.count) tags, with a fault at command \(command)") { _ in
      tags(since: start).count >= messages.count ? true : nil
    }
    // The process may have to open the device again and poll for all technologies.
    try await simulator.wait { $0.counters.commands >= struck + 26 }
    await simulator.removeAll()
    try await next("\(messages.count) removals, with a fault at command \(command)") { _ in
      removals(since: start).count >= messages.count ? true : nil
    }
    await setScanning(false)
    try await isAsleep()
    #expect(await !simulator.isFieldOn, "command \(command)")
    #expect(await simulator.strikes > strikes, "the fault at command \(command) did not strike")
    let contents = tags(since: start).map(\.content)
    let trace = await simulator.commands
    #expect(
      Set(contents) == Set(messages.map { .message($0) }) && contents.count == messages.count,
      "command \(command): \(contents), \(trace.map(\.description))")
    #expect(
      Set(removals(since: start)) == Set(tags(since: start).map(\.placement.number))
        && removals(since: start).count == messages.count, "command \(command)")
    await simulator.clearFaults()
    await simulator.resetCounters()
    await simulator.unplug()
    await process.lookForDevice()
    try await next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
  }

  private func tags(since start: Int) -> [TagReport] {
    seen[start...].compactMap { if case .tag(let report, _) = $0 { report } else { nil } }
  }

  private func removals(since start: Int) -> [UInt64] {
    seen[start...].compactMap { if case .removed(let number) = $0 { number } else { nil } }
  }
}
