import Bus
import EventLoop
import Journal
import Names
import Presence

/// Registers agents, and takes their reports.
@DaemonLoop final class AgentRegistrations {
  /// The limit for all users. Each session has at most one agent.
  private static let agentLimit = 64
  /// Of registrations of one user that wait for logind.
  private static let pendingLimit = 8

  private let core: DaemonCore
  private let monitors: MachineMonitors
  private let sheets: SessionSheets
  /// By the bus names of agents.
  private var watches: [String: Task<Void, Never>] = [:]
  /// By user: how many registrations wait for logind.
  private var pending: [UInt32: Int] = [:]
  /// The agents that the bus connection gives precedence to.
  private var preceding: Set<String> = []

  init(_ core: DaemonCore, _ monitors: MachineMonitors, _ sheets: SessionSheets) {
    (self.core, self.monitors, self.sheets) = (core, monitors, sheets)
  }

  func stop() {
    for task in watches.values { task.cancel() }
  }

  func register(_ call: IncomingCall) async throws -> [Value] {
    guard let connection = core.connection else { throw BusError.disconnected() }
    guard let path = call.arguments.first?.asObjectPath else { throw BusError.invalidArguments("path is missing") }
    let conditions = try Self.conditions(in: call)
    let uid = try await connection.credentials(of: call.sender).uid
    guard pending[uid, default: 0] < Self.pendingLimit else {
      throw BusError.tooMany("\(Self.pendingLimit) registrations of user \(uid) are in progress: try again later")
    }
    pending[uid, default: 0] += 1
    let candidates = await sessions(of: uid)
    pending[uid] = pending[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
    guard !candidates.isEmpty else {
      core.log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not be an agent: the user has no local session")
      throw BusError(
        name: Names.Errors.notASession,
        message: "user \(uid) has no local session (class user, on a seat): register from a session at the machine")
    }
    guard core.state.seats.registry.agents.count < Self.agentLimit else {
      throw BusError.tooMany("\(Self.agentLimit) agents are already registered")
    }
    let owners = try await connection.owners(of: call.sender)
    let (agent, actions) = core.state.register(
      call.sender, at: path, for: candidates, reporting: conditions, at: .now)
    guard agent != nil else {
      let registry = core.state.seats.registry
      let other = candidates.lazy.compactMap { registry.agent(of: $0)?.sender }.first ?? "another agent"
      throw BusError(
        name: Names.Errors.alreadyRegistered, message: "\(other) already serves \(candidates[0]): stop it first")
    }
    core.apply(actions)
    note(versionIn: call, of: uid)
    sheets.showAll(to: call.sender)
    if watches[call.sender] == nil {
      watches[call.sender] = Task { [weak self] in
        for await owner in owners where owner == nil { break }
        self?.lost(call.sender)
      }
    }
    return []
  }

  /// Gives the calls of the registered agents precedence over others.
  func publishPrecedence() {
    let agents = Set(core.state.seats.registry.agents.map(\.sender))
    guard agents != preceding else { return }
    preceding = agents
    core.connection?.assumeIsolated { $0.setPrecedence(of: agents) }
  }

  private func lost(_ sender: String) {
    watches[sender] = nil
    core.handle(.agentGone(sender: sender))
  }

  private func sessions(of uid: UInt32) async -> [LoginSessionKey] {
    let present = core.state.seats.sessions(of: uid, await monitors.logins?.state)
    guard present.isEmpty else { return present }
    // The agent may have started before logind's signal about its session arrived.
    return core.state.seats.sessions(of: uid, await monitors.logins?.refresh())
  }

  private static func conditions(in call: IncomingCall) throws(BusError) -> [String: Bool]? {
    guard let option = call.arguments.last?.asDictionary?[Names.Registration.conditions] else { return nil }
    guard let conditions = option.asBooleans else { throw .invalidArguments("conditions is not of type a{sb}") }
    return conditions
  }

  /// The daemon serves an agent of another version like any other.
  private func note(versionIn call: IncomingCall, of uid: UInt32) {
    let options = call.arguments.last?.asDictionary ?? [:]
    let version = options[Names.Registration.version]?.asString ?? ""
    guard let difference = RunningProgram.agent.difference(version: version) else { return }
    let notice = difference.notice(
      interfaceVersion: options[Names.Registration.interfaceVersion]?.asUInt32, to: .daemon,
      hasSystemd: core.directories.hasSystemd)
    core.log(.notice, ofUser: uid, "\(call.sender): \(notice)")
  }

  func takeConditions(_ call: IncomingCall) throws -> [Value] {
    let conditions = call.arguments.first?.asBooleans ?? [:]
    guard let actions = core.state.replaceReport(of: call.sender, with: conditions, at: .now) else {
      throw BusError.notAuthorized("\(call.sender) is not a registered agent: call RegisterAgent first")
    }
    core.apply(actions)
    return []
  }
}
