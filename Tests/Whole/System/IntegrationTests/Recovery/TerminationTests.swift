import Glibc
import TagrouteClient
import TestKit
import Testing

/// SIGTERM ends the daemon and the agent, and no reader process is left.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TerminationTests {
  enum State: Sendable, CaseIterable {
    /// A notification is on the screen, the handler does not reply after a click, and the reader process is suspended.
    case hanging
    /// The daemon scans for tags, and both buses have ended.
    case withoutBuses
  }

  @Test(arguments: State.allCases) func `SIGTERM ends the daemon, the agent and the reader process`(state: State)
    async throws
  {
    let desktop = try await Desktop(starter: "`SIGTERM ends the daemon, the agent and the reader process`_\(state)")
    let readers = try await bring(desktop, to: state)
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    for process in [agent, daemon] {
      #expect(try await process.exit(after: SIGTERM) == .exited(0))
    }
    #expect(readers.map(\.isGone) == readers.map { _ in true })
  }

  /// Brings the desktop into a state.
  ///
  /// - Returns: the reader processes.
  private func bring(_ desktop: Desktop, to state: State) async throws -> [ForeignProcess] {
    let server = try await desktop.startWithServer()
    try await desktop.status(\.scanning)
    let reader = try await desktop.reader
    switch state {
    case .hanging:
      await desktop.app.set(.hangs)
      try await desktop.tap(1, isShownOn: server)
      try await desktop.place(try Tag(2))
      try await server.click(try await desktop.notification(on: server))
      _ = try await desktop.handed()
      reader.signal(SIGSTOP)
    case .withoutBuses:
      try await desktop.installation.systemBus.stop()
      try await #require(desktop.installation.sessionBus).stop()
    }
    return [reader]
  }
}
