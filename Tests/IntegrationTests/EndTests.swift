import Glibc
import TagrouteClient
import TestSupport
import Testing

/// SIGTERM ends the daemon and the agent, whatever they are doing, and nothing of them is left.
@Suite(.timeLimit(.minutes(5))) struct EndTests {
  enum State: Sendable, CaseIterable {
    /// Nothing to do: no reader, no notification server.
    case idle
    /// Looking for tags.
    case scanning
    /// A tag rests on the reader, and its notification is up.
    case notificationUp
    /// The reader process does not listen.
    case readerHangs
    /// The handler of a click does not answer.
    case handlerHangs
    /// There is no bus any more.
    case withoutBuses
  }

  /// A second, and as much again for a machine that is busy with other tests. A reader that does not listen may be in the
  /// middle of an exchange: it has the 2.4 s for which it was to be waited for.
  private static func limit(_ state: State) -> Duration { state == .readerHangs ? .seconds(5) : .seconds(2) }

  @Test(arguments: State.allCases) func sigtermEndsBothAndAllOfThem(state: State) async throws {
    let desktop = try await Desktop(starter: "sigtermEndsBothAndAllOfThem_\(state)")
    let readers = try await bring(desktop, to: state)
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    for process in [agent, daemon] {
      process.signal(SIGTERM)
      #expect(try await process.exit(within: Self.limit(state)) == .exited(0))
    }
    #expect(readers.map(\.isGone) == readers.map { _ in true })
    await desktop.stop()
  }

  /// - Returns: the reader processes.
  private func bring(_ desktop: Desktop, to state: State) async throws -> [ForeignProcess] {
    guard state != .idle else {
      try await desktop.installation.startDaemon()
      try await desktop.installation.startAgent()
      try await desktop.agent.line(containing: Desktop.registered)
      try await desktop.daemon.line(containing: "is absent")
      return try await desktop.daemon.children()
    }
    let server = try await desktop.startServer()
    try await desktop.start()
    try await desktop.status(\.scanning)
    let reader = try await desktop.reader
    switch state {
    case .idle, .scanning: break
    case .notificationUp:
      try await desktop.place(try Tag(1))
      _ = try await desktop.notification(on: server)
    case .readerHangs: reader.signal(SIGSTOP)
    case .handlerHangs:
      await desktop.app.set(.hangs)
      try await desktop.place(try Tag(1))
      try await server.click(try await desktop.notification(on: server))
      _ = try await desktop.handed()
    case .withoutBuses:
      try await desktop.installation.systemBus.stop()
      try await #require(desktop.installation.sessionBus).stop()
    }
    return [reader]
  }
}
