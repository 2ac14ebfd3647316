import Bus
import ScanGate

/// The registered agents: at most one a session, each as long as its bus name lives.
struct AgentRegistry: Sendable {
  /// In the order of their registration.
  private(set) var agents: [Agent] = []

  func agent(of session: SessionKey) -> Agent? { agents.first { $0.session == session } }

  func agent(named sender: String) -> Agent? { agents.first { $0.sender == sender } }

  /// Registers an agent for the first of `candidates` that has none; one that registers again keeps its session.
  ///
  /// - Returns: the agent; nil where each candidate is taken by another.
  mutating func register(_ sender: String, at path: ObjectPath, for candidates: [SessionKey]) -> Agent? {
    if let index = agents.firstIndex(where: { $0.sender == sender }), candidates.contains(agents[index].session) {
      var agent = Agent(sender: sender, path: path, session: agents[index].session)
      agent.report = agents[index].report
      agents[index] = agent
      return agent
    }
    guard let session = candidates.first(where: { self.agent(of: $0) == nil }) else { return nil }
    var agent = Agent(sender: sender, path: path, session: session)
    if let before = unregister(sender) { agent.report = before.report }
    agents.append(agent)
    return agent
  }

  /// Forgets an agent.
  ///
  /// - Returns: the agent that was; nil where there was none of that name.
  @discardableResult
  mutating func unregister(_ sender: String) -> Agent? {
    guard let index = agents.firstIndex(where: { $0.sender == sender }) else { return nil }
    return agents.remove(at: index)
  }

  /// Takes in what an agent reports, in the place of what it reported before.
  ///
  /// - Returns: the agent with its report; nil where there is none of that name.
  mutating func report(_ sender: String, _ conditions: [String: Bool]) -> Agent? {
    guard let index = agents.firstIndex(where: { $0.sender == sender }) else { return nil }
    agents[index].report = SessionReport(conditions)
    return agents[index]
  }
}
