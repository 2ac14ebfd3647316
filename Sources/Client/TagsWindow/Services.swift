import Bus
import EventLoop
import TagrouteClient

/// The window's connections to the daemon and to the agent.
///
/// Each is made when it is first needed. It comes back by itself after its bus was lost.
final class Services {
  /// Of all connections. Everything on it returns at once.
  let loop = EventLoop(label: "tags")
  private var session: AgentClient?
  private var system: DaemonClient?

  /// - Throws: `BusError` if there is no session bus. The agent need not run.
  func agent() async throws(BusError) -> AgentClient {
    if let session { return session }
    let client = try await AgentClient.connect(on: loop)
    session = client
    return client
  }

  /// - Throws: `BusError` if there is no system bus. The daemon need not run.
  func daemon() async throws(BusError) -> DaemonClient {
    if let system { return system }
    let client = try await DaemonClient.connect(on: loop)
    system = client
    return client
  }

  /// Starts a reader session on a connection of its own, so that it ends with its owner.
  ///
  /// - Throws: `BusError`, as `ReaderSession.start`.
  func readerSession(_ options: ReaderSessionOptions) async throws(BusError) -> ReaderSession {
    try await ReaderSession.start(options, loop: loop)
  }
}
