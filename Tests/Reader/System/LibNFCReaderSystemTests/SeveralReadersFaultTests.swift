import Daemon
import EventLoop
import Glibc
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

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
