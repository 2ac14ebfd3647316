import Bus
import EventLoop
import Journal
import Names
import Presence

extension DaemonService {
  /// How long an agent may take to store a tap.
  private static let deliveryTimeout = Duration.seconds(10)
  /// The limit for all users. Each session has at most one agent.
  private static let agentLimit = 64
  /// The limit of registrations of one user that wait for logind.
  private static let pendingLimit = 8

  func registerAgent(_ call: IncomingCall) async throws -> [Value] {
    guard let connection else { throw BusError.disconnected() }
    guard let path = call.arguments.first?.asObjectPath else { throw BusError.invalidArguments("path is missing") }
    let conditions = try Self.conditions(in: call)
    let uid = try await connection.credentials(of: call.sender).uid
    guard pendingRegistrations[uid, default: 0] < Self.pendingLimit else {
      throw BusError.tooMany("\(Self.pendingLimit) registrations of user \(uid) are in progress: try again later")
    }
    pendingRegistrations[uid, default: 0] += 1
    let candidates = await sessions(of: uid)
    pendingRegistrations[uid] = pendingRegistrations[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
    guard !candidates.isEmpty else {
      log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not be an agent: the user has no local session")
      throw BusError(
        name: Names.Errors.notASession,
        message: "user \(uid) has no local session (class user, on a seat): register from a session at the machine")
    }
    guard state.registry.agents.count < Self.agentLimit else {
      throw BusError.tooMany("\(Self.agentLimit) agents are already registered")
    }
    let owners = try await connection.owners(of: call.sender)
    let (agent, actions) = state.register(
      call.sender, at: path, for: candidates, reporting: conditions, at: .now)
    guard agent != nil else {
      let other = candidates.lazy.compactMap { self.state.registry.agent(of: $0)?.sender }.first ?? "another agent"
      throw BusError(
        name: Names.Errors.alreadyRegistered, message: "\(other) already serves \(candidates[0]): stop it first")
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
    // The agent may have started before logind's signal about its session arrived.
    return state.sessions(of: uid, await logins?.refresh())
  }

  /// The option `conditions` of a registration.
  private static func conditions(in call: IncomingCall) throws(BusError) -> [String: Bool]? {
    guard let option = call.arguments.last?.asDictionary?[Names.Registration.conditions] else { return nil }
    guard let conditions = option.asBooleans else { throw .invalidArguments("conditions is not of type a{sb}") }
    return conditions
  }

  /// Logs that an agent has another version. The daemon serves it like any other.
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
      throw BusError.notAuthorized("\(call.sender) is not a registered agent: call RegisterAgent first")
    }
    apply(actions)
    return []
  }

  /// Sends a tap to an agent. The outcome is an event.
  func deliver(_ tap: DetectedTap, to agent: Agent) {
    guard let connection else { return }
    Task {
      let outcome: TapQueue.Outcome
      do throws(BusError) {
        _ = try await connection.call(
          agent.sender, agent.path, Names.Daemon.agentInterface, "TagRead", [tap.argument],
          timeout: Self.deliveryTimeout, autoStart: false)
        outcome = .stored
      } catch {
        outcome = Self.outcome(of: error)
      }
      handle(.delivery(id: tap.id, sender: agent.sender, outcome))
    }
  }

  /// Tells an agent that the tag of its tap was removed, once. An agent of version 1 has no such method.
  func reportRemoval(of tap: String, to agent: Agent) {
    call(agent, "TagRemoved", [.string(tap), .dictionary([:])])
  }

  /// Calls an agent, whose answer does not matter.
  ///
  /// A task that uses this actor starts on its loop. Such tasks start in the order of their creation, and each one sends
  /// at once, so an agent gets the calls in order.
  func call(_ agent: Agent, _ member: String, _ arguments: [Value]) {
    guard let connection else { return }
    Task {
      do throws(BusError) {
        _ = try await connection.call(
          agent.sender, agent.path, Names.Daemon.agentInterface, member, arguments, timeout: Self.deliveryTimeout,
          autoStart: false)
      } catch {
        self.log(.debug, "the agent call \(member) failed: \(error.name)")
      }
    }
  }

  private static func outcome(of error: BusError) -> TapQueue.Outcome {
    // The agent's message may quote the tag. Log the name of the error only.
    error.name == Names.Errors.invalidArgument ? .refused(reason: error.name) : .failed(reason: error.name)
  }
}
