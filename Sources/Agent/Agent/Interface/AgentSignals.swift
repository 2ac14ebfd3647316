import Bus
import Journal
import Names

/// Emits the signals of `org.tagroute.Agent1`.
struct AgentSignals: Sendable {
  let session: Connection
  let log: Log

  func emit(_ member: String, _ arguments: [Value]) async {
    do {
      try await session.emit(
        path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: member, arguments)
    } catch { log(.debug, "\(member) was not sent: \(error)") }
  }

  func propertiesChanged(_ names: [String]) async {
    guard let path = try? ObjectPath(Names.Agent.path) else { return }
    await session.propertiesChanged(names, of: Names.Agent.interface, at: path)
  }
}
