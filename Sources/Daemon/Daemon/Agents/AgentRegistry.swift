import Bus
import Names
import Presence

/// The registered agents: at most one for each session. An agent is registered until its bus name is gone.
struct AgentRegistry: Sendable {
  /// In the order of their registration.
  private(set) var agents: [Agent] = []

  func agent(of session: LoginSessionKey) -> Agent? { agents.first { $0.session == session } }

  func agent(named sender: String) -> Agent? { agents.first { $0.sender == sender } }

  /// Registers an agent for the first of `candidates` that has none; nil if other agents have all of them. An agent
  /// that registers again keeps its session.
  mutating func register(_ sender: String, at path: ObjectPath, for candidates: [LoginSessionKey]) -> Agent? {
    if let index = agents.firstIndex(where: { $0.sender == sender }), candidates.contains(agents[index].session) {
      agents[index].path = path
      return agents[index]
    }
    guard let session = candidates.first(where: { agent(of: $0) == nil }) else { return nil }
    let before = unregister(sender)
    agents.append(Agent(sender: sender, path: path, session: session, report: before?.report ?? SessionReport()))
    return agents.last
  }

  /// Nil if there is no agent with this name.
  @discardableResult
  mutating func unregister(_ sender: String) -> Agent? {
    agents.firstIndex { $0.sender == sender }.map { agents.remove(at: $0) }
  }

  /// Nil if there is no agent with this name.
  mutating func replaceReport(of sender: String, with conditions: [String: Bool]) -> Agent? {
    guard let index = agents.firstIndex(where: { $0.sender == sender }) else { return nil }
    agents[index].report = SessionReport(conditions)
    return agents[index]
  }
}

/// The session that a tap belongs to; with `Sessions=any`, and for the user of a station, the user.
struct LoginSessionKey: Hashable, Sendable, CustomStringConvertible {
  /// logind's id; nil with `Sessions=any`, and for the user of a station.
  let id: String?
  let uid: UInt32

  var description: String { id.map { "session \($0) of user \(uid)" } ?? "user \(uid)" }
}

/// The conditions that an agent reports about its session.
struct SessionReport: Hashable, Sendable {
  var locked = Fact.unknown
  var displayOff = Fact.unknown
  var camera = Fact.unknown
  var airplaneMode = Fact.unknown

  /// A condition that the report does not contain is unknown.
  init(_ conditions: [String: Bool] = [:]) {
    locked = Fact(conditions[Names.Condition.locked])
    displayOff = Fact(conditions[Names.Condition.displayOff])
    camera = Fact(conditions[Names.Condition.camera])
    airplaneMode = Fact(conditions[Names.Condition.airplaneMode])
  }
}

struct Agent: Hashable, Sendable {
  /// Its unique bus name.
  let sender: String
  var path: ObjectPath
  let session: LoginSessionKey
  var report = SessionReport()
}
