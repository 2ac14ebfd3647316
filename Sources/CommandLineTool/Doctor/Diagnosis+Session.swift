import Bus
import Names
import TagrouteClient

extension Diagnosis {
  var session: [Finding] {
    if let error = seen.sessionBus {
      return [agentConfiguration].compactMap { $0 } + [
        .wrong(
          .sessionBus, error.message,
          .advise("call this in your desktop session, not by sudo or in a service"))
      ]
    }
    let unit = agentUnit
    let isExplained = unit?.verdict == .wrong
    return [.right(.sessionBus, "answers")]
      + [agentConfiguration, unit, agent(isExplained: isExplained), notifications].compactMap { $0 } + handlers
  }

  private var agentConfiguration: Finding? {
    let status = seen.agent.value.flatMap { $0 }
    return seen.agentConfiguration.map {
      finding(
        .agentConfiguration, $0, .agent, seen.agentUnit.value, isRunning: status != nil,
        refused: status?.configurationError, readAt: status?.configurationTime)
    }
  }

  private var agentUnit: Finding? {
    let isRunning = seen.agent.value.flatMap { $0 } != nil
    return seen.agentUnit.value.map { finding(.agentUnit, .agent, $0, isRunning: isRunning) }
  }

  private func agent(isExplained: Bool) -> Finding? {
    let unit = seen.agentUnit.value
    switch seen.agent {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(.agent, "tagroute-agent does not answer (\(error.message))", setup.restarting(.agent, unit))
    case .given(nil):
      let text = "no agent runs in this session"
      return isExplained ? .note(.agent, text) : .wrong(.agent, text, setup.starting(.agent, unit))
    case .given(let status?) where !status.registered:
      guard seen.daemon.value != nil else { return .note(.agent, "waits for tagrouted") }
      return unregistered(status.registrationError)
    case .given(let status?):
      if let difference = RunningProgram.agent.difference(version: status.version) {
        return .note(
          .agent, "\(difference); tags are shown all the same",
          setup.updating(difference, restarting: setup.restarting(.agent, unit)))
      }
      return .right(.agent, "tagroute-agent \(status.version) is registered")
    }
  }

  /// Of an agent that the daemon has not let in yet, or does not.
  private func unregistered(_ error: AgentStatus.RegistrationError?) -> Finding {
    let text = "the agent is not registered with tagrouted"
    guard let error else {
      return .wrong(.agent, "\(text), and is none that says why", setup.log(of: .agent, seen.agentUnit.value))
    }
    // It has only just begun, or the daemon has.
    if error.isNone { return .note(.agent, "the agent is being registered with tagrouted") }
    let remedy: Remedy =
      switch error.name {
      case Names.Errors.notASession:
        .run("loginctl session-status", "has to show an active, local, graphical session of class user; log in to one")
      case Names.Errors.alreadyRegistered:
        .run(
          "pgrep --list-full --exact --euid \"$(id --user)\" \(RunningProgram.agent.program)",
          "lists your agents: end the one of the other session, or log out there. If it lists one, another program is registered: "
            + "`busctl --system status NAME`, with the bus name above, shows it")
      default: setup.log(of: .daemon, seen.daemonUnit.value)
      }
    return .wrong(.agent, "\(text) (\(error.message))", remedy)
  }

  private var notifications: Finding? {
    switch seen.notifications {
    case .notAsked: return nil
    case .failed(let error) where ![BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner].contains(error.name):
      return .wrong(
        .notifications, "the notification server does not answer (\(error.message)): taps go to the inbox alone",
        .advise("end it and start it again, or log in anew; tagroute inbox has the taps"))
    case .failed:
      let package = setup.installing(.notificationServer)
      return .wrong(
        .notifications, "nobody shows notifications on this session's bus: taps go to the inbox alone",
        Remedy(
          command: package.command,
          advice: [package.advice, "or start your desktop's notification server; tagroute inbox has the taps"]
            .compactMap { $0 }.joined(separator: ", ")))
    case .given(let server):
      let name = server.version.isEmpty ? server.name : "\(server.name) \(server.version)"
      guard server.capabilities.contains("actions") else {
        return .wrong(
          .notifications, "\(name) shows no buttons, so a notification opens nothing",
          .advise("end do-not-disturb, or use another server; tagroute inbox open opens taps"))
      }
      return .right(.notifications, "\(name) shows them, with buttons")
    }
  }

  private var handlers: [Finding] {
    guard case .given(let handlers) = seen.handlers else {
      guard case .failed(let error) = seen.handlers else { return [] }
      return [.wrong(.handlers, "the agent does not list them (\(error.message))", .run("tagroute handlers"))]
    }
    let broken = handlers.compactMap { handler in
      handler.problem.map { problem in
        Finding.wrong(
          .handlers, "\(handler.path)\(handler.line.map { ":\($0)" } ?? ""): \(problem)",
          .run("tagroute handlers --check", "looks again, after the change"))
      }
    }
    let sound = handlers.count - broken.count
    let count =
      sound == 0
      ? Finding.note(.handlers, "no app declares that it takes tags; links go to the browser")
      : .right(.handlers, "\(sound) \(sound == 1 ? "app takes" : "apps take") tags")
    return [count] + broken
  }

  // MARK: The verdict

  /// What keeps tags from being looked for, each with what ends it; what passes by itself in one line.
  var scanning: [Finding] {
    guard let status = seen.daemon.value else { return [] }
    if status.scanning { return [.right(.scanning, "tags are looked for")] }
    if status.suspendReasons.isEmpty { return [.note(.scanning, "it is about to begin")] }
    let lasting = status.suspendReasons.flatMap(lasting)
    let passing = status.suspendReasons.filter { self.lasting($0).isEmpty }.map(StatusReport.words)
    return lasting + (passing.isEmpty ? [] : [.note(.scanning, "not now: \(passing.joined(separator: ", "))")])
  }

  /// Of a reason that somebody has to end.
  private func lasting(_ reason: String) -> [Finding] {
    switch reason {
    case "disabled": return [.wrong(.scanning, "it is switched off", .run("tagroute on"))]
    case "lock-unknown":
      return [
        .wrong(
          .scanning, "nobody tells whether the session is locked, and LockDetection=strict wants to know",
          .run("tagroute session unlock", "or LockDetection=hint in \(seen.configuration.file)"))
      ]
    case "airplane-mode":
      // It is the kernel's word or, reported by the agent, the desktop's: the daemon does not say which.
      return [
        .wrong(
          .scanning, "airplane mode: every radio is switched off, or the desktop says so", setup.endingAirplaneMode)
      ]
    case "session-locked":
      return [
        .note(
          .scanning, "not now: the session is locked",
          .run("tagroute session unlock", "where you see that it is not"))
      ]
    case "inhibited":
      return seen.inhibitors.map {
        .note(
          .scanning, "not now: \($0.who) inhibits it (\($0.why))", .advise("it is over when process \($0.process) ends")
        )
      }
    default: return []
    }
  }
}
