import Glibc
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// Kills a process at a step of a tap or of a reader session. Afterwards the tap was announced once; or not at all, if
/// its tag is gone or belonged to the session. No tap is announced twice, and the next placement is announced.
///
/// A step is reached when the simulated reader holds the answer to a command, never after a time.
enum CardKill {
  enum Victim: String, CaseIterable, Sendable {
    case pcscd
    case reader
    /// The process that lists pcscd's readers.
    case watch
    case daemon
  }

  enum Step: String, CaseIterable, Sendable {
    /// The reader is empty. The tag is placed while the victim is dead.
    case before
    /// pcscd has found the tag, and the reader process, which is suspended, has not connected to it.
    case inserted
    /// The UID is being asked for. The daemon does not know of the tag.
    case identifying
    /// The first pages are being read. The daemon knows the tag's UID.
    case reading
    /// The last pages are being read.
    case ending
    /// The tap was announced, and the tag rests.
    case announced
    case inSession
    case writing

    /// The simulated reader holds the answer to this command. The message of the tag takes three reads. A write begins
    /// with five commands that read the tag.
    var heldCommand: Int? {
      switch self {
      case .before, .inserted, .announced, .inSession: nil
      case .identifying: 1
      case .reading: 2
      case .ending: 4
      case .writing: 7
      }
    }

    var isOfSession: Bool { self == .inSession || self == .writing }

    static let taps = allCases.filter { !$0.isOfSession }
    static let sessions = allCases.filter(\.isOfSession)
  }

  /// How often the tap may be announced until the tag is placed a second time.
  private static func announcements(_ step: Step, _ victim: Victim, isRemoved: Bool) -> ClosedRange<Int> {
    switch (step, victim) {
    case (.announced, _): 1...1
    // The tag belonged to the session's client.
    case (.inSession, _), (.writing, _): 0...0
    // This process takes no part in a reading. A tag that goes during its reading may have been read already.
    case (_, .watch): isRemoved ? 0...1 : 1...1
    // The next process may be faster than the hand.
    case (.before, .reader) where isRemoved, (.inserted, .reader) where isRemoved: 0...1
    // The tag may be the reason why its process has ended. It is left alone until it is removed.
    case (.reading, .reader), (.ending, .reader): 0...0
    default: isRemoved ? 0...0 : 1...1
    }
  }

  /// `isRemoved`: whether the tag is removed while the victim is dead. Throws if an event that has to follow does not
  /// come.
  static func run(_ step: Step, _ victim: Victim, isRemoved: Bool, starter: String) async throws {
    let folder = try TemporaryDirectory()
    defer { withExtendedLifetime(folder) {} }
    let desk = try await CardDesktop(environment: ["RUNTIME_DIRECTORY": folder.path], starter: starter)
    if step.isOfSession { _ = try await desk.desktop.startPolkit() }
    try await desk.start()
    let module = try await desk.readers.insert(.contact(), into: desk.attached[0].slots[1])
    let scene = try await desk.go(to: step, starter: starter)
    var card = scene.card

    try await desk.kill(victim) {
      if victim != .reader { scene.suspended?.signal(SIGCONT) }
      if card == nil { card = try await desk.place(1) }
      if isRemoved, let card { await desk.readers.remove(card) }
      await desk.readers.release(try desk.slot)
    }
    if let open = scene.session {
      // Only the process that lists the readers leaves the session alone.
      await scene.write?.value
      try? await open.session.invalidate()
    }
    try await desk.scanning()

    let expected = announcements(step, victim, isRemoved: isRemoved)
    if expected.lowerBound == 1, step != .announced { #expect(try await desk.shown().body == Tag.text(1)) }
    // While the counter is 0, libpcsclite does not see that a card was swapped if it looks only afterwards.
    if victim == .pcscd, !isRemoved, let card { try await desk.remove(card) }
    // All that is announced late comes before the next tag.
    try await desk.place(2)
    while try await desk.shown().body != Tag.text(2) {}
    let count = await desk.announcements(of: 1)
    #expect(expected.contains(count), "announced \(count) times")
    #expect(await desk.server.mostAtOnce(Tag.text(1)) == count)
    // The tag is not to blame: removed and placed again, it is a new tap.
    try await desk.announces(1)
    #expect(await desk.announcements(of: 1) == count + 1)
    #expect(await desk.announcements(of: 2) == 1)
    #expect(await desk.readers.commands(to: module).isEmpty)
  }
}

/// Two cells of the table that `CardKillTableTests` tries as a whole.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardKillTests {
  @Test(arguments: [(CardKill.Step.ending, CardKill.Victim.pcscd), (.announced, .daemon)])
  func `after a kill a tap is announced once`(step: CardKill.Step, victim: CardKill.Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: false, starter: "`after a kill a tap is announced once`_\(step)_\(victim)")
  }
}

/// What a test has when its step is reached.
private struct Scene {
  /// The tag; nil if it is placed while the victim is dead.
  var card: TagID?
  /// The reader process, if it is suspended.
  var suspended: ForeignProcess?
  var session: OpenSession?
  /// Ends when the session's write has ended, with or without an error.
  var write: Task<Void, Never>?
}

extension CardDesktop {
  fileprivate func go(to step: CardKill.Step, starter: String) async throws -> Scene {
    var scene = Scene()
    let slot = try slot
    switch step {
    case .before: break
    case .inserted:
      let process = try await self.process()
      try await process.suspend()
      scene.suspended = process
      scene.card = try await place(1)
      let client = try await PCSCClient(socket: pcscd.socket, starter: starter)
      try await client.ask("await present \(await readers.name(of: slot))")
    case .identifying, .reading, .ending:
      await readers.add(.hold(command: try #require(step.heldCommand)), to: slot)
      scene.card = try await place(1)
      try await awaitHold(in: slot)
    case .announced: scene.card = try await announces(1)
    case .inSession, .writing:
      let open = try await desktop.program().start(.init(access: .write))
      scene.session = open
      try await desktop.within("the session") { try await open.activated() }
      scene.card = try await place(1)
      let tag = try await desktop.within("a tag") { try await open.tag() }
      guard let command = step.heldCommand else { break }
      await readers.add(.hold(command: command), to: slot)
      let message = try Tag(3).message
      // Its result depends on the victim.
      scene.write = Task { _ = try? await tag.writeNDEF(message) }
      try await awaitHold(in: slot)
    }
    return scene
  }

  /// Kills a process, and waits until its work goes on. `meanwhile` runs while it is dead; the daemon replaces its own
  /// processes at once.
  fileprivate func kill(_ victim: CardKill.Victim, meanwhile: () async throws -> Void) async throws {
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
  }
}
