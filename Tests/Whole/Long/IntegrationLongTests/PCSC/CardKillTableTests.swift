import TestKit
import Testing

@testable import IntegrationTests

/// Kills each process at each step of a tap and of a reader session.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardKillTableTests {
  typealias Step = CardKill.Step
  typealias Victim = CardKill.Victim

  @Test(arguments: Step.taps, Victim.allCases)
  func `after a kill a tap is announced once`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: false, starter: "`after a kill a tap is announced once`_\(step)_\(victim)")
  }

  @Test(arguments: Step.taps, Victim.allCases)
  func `after a kill a tag that is gone is not announced later`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: true,
      starter: "`after a kill a tag that is gone is not announced later`_\(step)_\(victim)")
  }

  @Test(arguments: Step.sessions, Victim.allCases)
  func `after a kill the tag of a session is not announced`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: false,
      starter: "`after a kill the tag of a session is not announced`_\(step)_\(victim)")
  }
}
