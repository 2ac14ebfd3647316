import Bus
import TagrouteClient

/// Where the taps wait.
protocol Outbox: Sendable {
  /// The taps that wait, the one with the lowest sequence first. Takes nothing away.
  func take(limit: Int) async throws(BusError) -> [TapDescription]
  /// The broker has these taps. Unknown ids have no effect.
  func acknowledge(_ ids: [String]) async throws(BusError)
}

/// The agent of the session.
struct AgentOutbox: Outbox {
  let agent: AgentClient

  func take(limit: Int) async throws(BusError) -> [TapDescription] {
    // Without a position in the list: taps that the inbox's file lacks all have the sequence 0.
    try await agent.takeOutgoing(limit: UInt32(clamping: limit))
  }

  func acknowledge(_ ids: [String]) async throws(BusError) { try await agent.acknowledgeOutgoing(ids) }
}
