import CShims
import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// A process that waits is not woken, so it uses no processor time.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardIdleTests {
  /// Most attempts to see a time without a wake-up. pcscd itself may wake its clients once or twice after a card was
  /// used. A timer of the process would wake it in each attempt.
  private static let attempts = 3

  @Test(.enabled(if: tagroute_is_sanitized() == 0, "a sanitizer wakes the process"), arguments: [false, true])
  func `a process that scans is not woken while nothing happens on its reader`(hasTag: Bool) async throws {
    let starter = "`a process that scans is not woken while nothing happens on its reader`_\(hasTag)"
    let rig = try await CardReaderRig.scanning(.acr1552U, starter: starter)
    // Has a pcscd of its own.
    let other = try await CardReaderRig.scanning(.acr1552U, starter: starter + "_other")
    if hasTag {
      try await rig.announces("https://example.com/resting")
      try await losesPower(rig)
    }
    try await rig.isAsleep()
    let process = try ForeignProcess(try #require(await rig.process.processID))
    var wakeUps: [[Int32: Int]] = [try process.wakeUps()]
    for attempt in 1...Self.attempts {
      try await use(other, attempt)
      wakeUps.append(try process.wakeUps())
      if wakeUps[attempt] == wakeUps[attempt - 1] { break }
    }
    let isQuiet = wakeUps.suffix(2).first == wakeUps.last
    // The main thread, and one each for the events and the calls.
    #expect(isQuiet && wakeUps[0].count >= 3, "\(wakeUps)")
    try await rig.announcesNothing()
  }

  /// Uses another reader. pcscd takes the power of a card that nobody has used for five seconds, so this takes as long
  /// on any machine.
  private func use(_ rig: CardReaderRig, _ number: Int) async throws {
    let (id, placement) = try await rig.announces("https://example.com/\(number)")
    try await losesPower(rig)
    try await rig.takeAway(id, placement)
  }

  private func losesPower(_ rig: CardReaderRig) async throws {
    let slot = rig.slot
    try await rig.wait(for: "a card without power") { $0.exchanges(in: slot).last?.kind == .powerDown }
  }
}
