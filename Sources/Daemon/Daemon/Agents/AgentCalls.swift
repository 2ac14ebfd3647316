import Bus
import Journal
import Names

@DaemonLoop struct AgentCalls {
  private static let timeout = Duration.seconds(10)

  let core: DaemonCore

  /// The outcome is an event.
  func deliver(_ tap: DetectedTap, to agent: Agent) {
    guard let connection = core.connection else { return }
    Task {
      let outcome: TapQueue.Outcome
      do throws(BusError) {
        try await Self.call(connection, agent, "TagRead", [tap.argument])
        outcome = .stored
      } catch {
        outcome = Self.outcome(of: error)
      }
      core.handle(.delivery(id: tap.id, sender: agent.sender, outcome))
    }
  }

  /// An agent of version 1 has no such method.
  func tagRemoved(_ tap: String, to agent: Agent) { call(agent, "TagRemoved", [.string(tap), .dictionary([:])]) }

  /// Ignores the answer. An agent gets the calls in order.
  func call(_ agent: Agent, _ member: String, _ arguments: [Value]) {
    guard let connection = core.connection else { return }
    Task {
      do throws(BusError) {
        try await Self.call(connection, agent, member, arguments)
      } catch {
        core.log(.debug, "the agent call \(member) failed: \(error.name)")
      }
    }
  }

  private static func call(
    _ connection: Connection, _ agent: Agent, _ member: String, _ arguments: [Value]
  ) async throws(BusError) {
    _ = try await connection.call(
      agent.sender, agent.path, Names.Daemon.agentInterface, member, arguments, timeout: timeout, autoStart: false)
  }

  private static func outcome(of error: BusError) -> TapQueue.Outcome {
    // The agent's message may quote the tag. Log the name of the error only.
    error.name == Names.Errors.invalidArgument ? .refused(reason: error.name) : .failed(reason: error.name)
  }
}
