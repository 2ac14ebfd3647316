import Bus
import EventLoop
import Journal
import Names
import Session

extension DaemonService {
  /// How long an agent may take to store a tap.
  private static let deliveryTimeout = Duration.seconds(10)
  /// Of all users together; each session has one at most.
  private static let agentLimit = 64
  /// The registrations of one user that may wait for logind at a time.
  private static let pendingLimit = 8

  func registerAgent(_ call: IncomingCall) async throws -> [Value] {
    guard let connection else { throw BusError.disconnected() }
    guard let path = call.arguments.first?.asObjectPath else { throw BusError.invalidArguments("path is missing") }
    let conditions = try Self.conditions(in: call)
    let uid = try await connection.credentials(of: call.sender).uid
    guard pendingRegistrations[uid, default: 0] < Self.pendingLimit else {
      throw BusError(
        name: Names.Errors.tooMany,
        message: "\(Self.pendingLimit) registrations of user \(uid) are being looked at: try again later")
    }
    pendingRegistrations[uid, default: 0] += 1
    let candidates = await sessions(of: uid)
    pendingRegistrations[uid] = pendingRegistrations[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
    guard !candidates.isEmpty else {
      log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not be an agent: the user has no session here")
      throw BusError(
        name: Names.Errors.notASession,
        message: "user \(uid) has no local session of class user on a seat: register from a session at the machine")
    }
    guard state.registry.agents.count < Self.agentLimit else {
      throw BusError(name: Names.Errors.tooMany, message: "\(Self.agentLimit) agents are registered already")
    }
    let owners = try await connection.owners(of: call.sender)
    let (agent, actions) = state.register(
      call.sender, at: path, for: candidates, reporting: conditions, at: .now)
    guard agent != nil else {
      let other = candidates.lazy.compactMap { self.state.registry.agent(of: $0)?.sender }.first ?? "another agent"
      throw BusError(
        name: Names.Errors.alreadyRegistered, message: "\(other) serves \(candidates[0]) already: end it first")
    }
    apply(actions)
    note(versionIn: call, of: uid)
    showSessions(to: call.sender)
    if agentWatches[call.sender] == nil {
      agentWatches[call.sender] = Task { [weak self] in
        for await owner in owners where owner == nil { break }
        await self?.lost(call.sender)
      }
    }
    return []
  }

  private func lost(_ sender: String) {
    agentWatches[sender] = nil
    handle(.agentGone(sender: sender))
  }

  private func sessions(of uid: UInt32) async -> [SessionKey] {
    let present = state.sessions(of: uid, await logins?.state)
    guard present.isEmpty else { return present }
    // An agent may be quicker than logind's signal of its session.
    return state.sessions(of: uid, await logins?.refresh())
  }

  /// The option `conditions` of a registration; nil where there is none.
  private static func conditions(in call: IncomingCall) throws(BusError) -> [String: Bool]? {
    guard let option = call.arguments.last?.asDictionary?[Names.Registration.conditions] else { return nil }
    guard let conditions = option.asBooleans else { throw .invalidArguments("conditions is no a{sb}") }
    return conditions
  }

  /// An agent of another version is served like any other: whoever has updated hears that it goes on as it was.
  private func note(versionIn call: IncomingCall, of uid: UInt32) {
    let options = call.arguments.last?.asDictionary ?? [:]
    let version = options[Names.Registration.version]?.asString ?? ""
    guard let difference = RunningProgram.agent.difference(version: version) else { return }
    let notice = difference.notice(
      interfaceVersion: options[Names.Registration.interfaceVersion]?.asUInt32, to: .daemon,
      hasSystemd: directories.hasSystemd)
    log(.notice, ofUser: uid, "\(call.sender): \(notice)")
  }

  func reportConditions(_ call: IncomingCall) throws -> [Value] {
    let conditions = call.arguments.first?.asBooleans ?? [:]
    guard let actions = state.report(call.sender, conditions, at: .now) else {
      throw BusError(
        name: Names.Errors.notAuthorized, message: "\(call.sender) is no registered agent: call RegisterAgent first")
    }
    apply(actions)
    return []
  }

  /// Gives a tap to an agent; what becomes of it is an event.
  func deliver(_ tap: Tap, to agent: Agent) {
    guard let connection else { return }
    Task { [weak self] in
      let outcome: TapQueue.Outcome
      do throws(BusError) {
        _ = try await connection.call(
          agent.sender, agent.path, Names.Daemon.agentInterface, "TagRead", [tap.argument],
          timeout: Self.deliveryTimeout, autoStart: false)
        outcome = .stored
      } catch {
        outcome = Self.outcome(of: error)
      }
      await self?.handle(.delivery(id: tap.id, sender: agent.sender, outcome))
    }
  }

  private static func outcome(of error: BusError) -> TapQueue.Outcome {
    // The message is the agent's: it may quote the tag, so only the error's name is shown.
    error.name == Names.Errors.invalidArgument ? .refused(reason: error.name) : .failed(reason: error.name)
  }
}
