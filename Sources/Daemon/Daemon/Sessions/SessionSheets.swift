import Bus
import Glibc
import Names

/// The sheet that the user's agent shows during a reader session. A session also works without an agent.
@DaemonLoop struct SessionSheets {
  let core: DaemonCore
  let agents: AgentCalls

  func show(_ session: SessionRecord) {
    guard let agent = core.state.agent(showing: session) else { return }
    core.state.sessions[session.id]?.agent = agent
    let app = Self.name(ofProcess: session.pid)
    let options: [String: Value] = ["message": .string(session.message), "app": .string(app)]
    agents.call(agent, "ShowReaderSession", [.objectPath(session.path), .dictionary(options)])
  }

  /// For an agent that has just registered.
  func showAll(to sender: String) {
    for session in core.state.sessions.open where session.isActive && session.agent?.sender != sender {
      if core.state.agent(showing: session)?.sender == sender { show(session) }
    }
  }

  func update(_ session: SessionRecord) {
    guard let agent = session.agent else { return }
    let options: [String: Value] = ["message": .string(session.message)]
    agents.call(agent, "UpdateReaderSession", [.objectPath(session.path), .dictionary(options)])
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
    agents.call(
      agent, "CloseReaderSession", [.objectPath(session.path), .string(outcome), .string(session.endMessage)])
  }

  private static func name(ofProcess pid: UInt32) -> String {
    guard pid > 0 else { return "" }
    let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    return String(text.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init))
  }
}
