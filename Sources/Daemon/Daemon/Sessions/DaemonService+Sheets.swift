import Bus
import Journal
import Names

/// The sheet that the user's agent shows during a reader session. A session also works without an agent.
extension DaemonService {
  func show(_ session: SessionRecord) {
    guard let agent = state.agent(showing: session) else { return }
    state.sessions[session.id]?.agent = agent
    let options: [String: Value] = ["message": .string(session.message), "app": .string(name(ofProcess: session.pid))]
    call(agent, "ShowReaderSession", [.objectPath(session.path), .dictionary(options)])
  }

  /// Shows the active sessions to an agent that has just registered.
  func showSessions(to sender: String) {
    for session in state.sessions.open where session.isActive && session.agent?.sender != sender {
      if state.agent(showing: session)?.sender == sender { show(session) }
    }
  }

  func update(_ session: SessionRecord) {
    guard let agent = session.agent else { return }
    let options: [String: Value] = ["message": .string(session.message)]
    call(agent, "UpdateReaderSession", [.objectPath(session.path), .dictionary(options)])
  }

  func close(_ session: SessionRecord) {
    guard let agent = session.agent else { return }
    let outcome: String
    switch session.end {
    case .invalidated?: outcome = session.errorMessage.isEmpty ? "done" : "error"
    case .firstRead?: outcome = "done"
    case .timedOut?, .readerLost?: outcome = "error"
    case .cancelled?: outcome = "cancelled"
    default: outcome = "closed"
    }
    call(
      agent, "CloseReaderSession", [.objectPath(session.path), .string(outcome), .string(session.endMessage)])
  }
}
