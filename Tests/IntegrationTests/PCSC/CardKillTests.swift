import Glibc
import ReaderSimulator
import TestSupport
import Testing

/// Kills each process at each step of a tap. Afterwards the tap was announced once; or not at all, if its tag is gone.
/// No tap is announced twice, and no card with contacts gets a command.
///
/// A step is reached when the simulated reader holds the answer to a command, never after a time.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardKillTests {
  enum Victim: String, CaseIterable, Sendable {
    case pcscd
    /// The process of the reader.
    case reader
    /// The process that lists pcscd's readers.
    case watch
    case daemon
  }

  enum Step: String, CaseIterable, Sendable {
    /// The reader is empty. The tag is placed while the victim is dead.
    case before
    /// The UID is being asked for. The daemon does not know of the tag.
    case identifying
    /// The first pages are being read. The daemon knows the tag's UID.
    case reading
    /// The last pages are being read.
    case ending
    /// The tap was announced, and the tag rests.
    case announced

    /// The command whose answer is held. The message of the tag takes three reads.
    var heldCommand: Int? {
      switch self {
      case .before, .announced: nil
      case .identifying: 1
      case .reading: 2
      case .ending: 4
      }
    }
  }

  /// How often the tap may be announced until the tag is placed a second time.
  private static func announcements(_ step: Step, _ victim: Victim, isRemoved: Bool) -> ClosedRange<Int> {
    switch (step, victim) {
    case (.announced, _): 1...1
    // This process takes no part in a reading. A tag that goes during its reading may have been read already.
    case (_, .watch): isRemoved ? 0...1 : 1...1
    // The next process may be faster than the hand.
    case (.before, .reader) where isRemoved: 0...1
    // The tag may be the reason why its process has ended. It is left alone until it is removed.
    case (.reading, .reader), (.ending, .reader): 0...0
    default: isRemoved ? 0...0 : 1...1
    }
  }

  @Test(arguments: Step.allCases, Victim.allCases)
  func `after a kill a tap is announced once`(step: Step, victim: Victim) async throws {
    try await run(
      step, victim, isRemoved: false, starter: "`after a kill a tap is announced once`_\(step)_\(victim)")
  }

  @Test(arguments: Step.allCases, Victim.allCases)
  func `after a kill a tag that is gone is not announced later`(step: Step, victim: Victim) async throws {
    try await run(
      step, victim, isRemoved: true,
      starter: "`after a kill a tag that is gone is not announced later`_\(step)_\(victim)")
  }

  private func run(_ step: Step, _ victim: Victim, isRemoved: Bool, starter: String) async throws {
    let folder = try TemporaryDirectory()
    let desk = try await CardDesktop.started(environment: ["RUNTIME_DIRECTORY": folder.path], starter: starter)
    defer { withExtendedLifetime(folder) {} }
    let module = try await desk.readers.insert(.contact(), into: desk.attached[0].slots[1])
    let slot = try desk.slot
    var card: TagID?
    if let command = step.heldCommand {
      await desk.readers.add(.hold(command: command), to: slot)
      card = try await desk.place(1)
      try await desk.awaitHold(in: slot)
    } else if step == .announced {
      card = try await desk.announces(1)
    }

    try await desk.kill(victim) {
      if card == nil { card = try await desk.place(1) }
      if isRemoved, let card { await desk.readers.remove(card) }
      await desk.readers.release(slot)
    }

    let expected = Self.announcements(step, victim, isRemoved: isRemoved)
    if expected.lowerBound == 1, step != .announced { #expect(try await desk.shown().body == Tag.text(1)) }
    // All that is announced late comes before the next tag.
    try await desk.place(2)
    while try await desk.shown().body != Tag.text(2) {}
    let count = await desk.announcements(of: 1)
    #expect(expected.contains(count), "announced \(count) times")
    // The tag itself has done nothing wrong: removed and placed again, it is a new tap.
    try await desk.announces(1)
    #expect(await desk.announcements(of: 1) == count + 1)
    #expect(await desk.announcements(of: 2) == 1)
    #expect(await desk.readers.commands(to: module).isEmpty)
  }
}

extension CardDesktop {
  /// Kills a process, and waits until its work goes on. `meanwhile` runs while it is dead; the daemon replaces its own
  /// processes at once.
  func kill(_ victim: CardKillTests.Victim, meanwhile: () async throws -> Void) async throws {
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    let (seen, heard) = (await daemon.log().count, await agent.log().count)
    switch victim {
    case .pcscd:
      await pcscd.kill()
      try await meanwhile()
      try await daemon.line(containing: "has failed", after: seen)
      try await pcscd.restart()
      try await readers.waitUntilOpen(by: pcscd)
      try await daemon.line(containing: Desktop.readerReady, after: seen)
    case .reader:
      let process = try await self.process()
      process.signal(SIGKILL)
      try await process.end()
      try await meanwhile()
      try await daemon.line(containing: "the process of reader", after: seen)
      try await daemon.line(containing: Desktop.readerReady, after: seen)
    case .watch:
      let process = try await watch
      process.signal(SIGKILL)
      try await process.end()
      try await meanwhile()
      try await daemon.line(containing: "pcscd lists", after: seen)
    case .daemon:
      try await daemon.exit(after: SIGKILL)
      try await meanwhile()
      try await desktop.installation.startDaemon()
      try await agent.line(containing: Desktop.registered, after: heard)
    }
    try await scanning()
  }
}
