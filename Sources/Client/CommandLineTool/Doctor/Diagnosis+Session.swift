import Bus
import Names
import TagrouteClient

extension Diagnosis {
  var session: [Finding] {
    if let station { return station }
    if let error = seen.sessionBus {
      return [agentConfiguration].compactMap { $0 } + [
        .wrong(
          .sessionBus, error.message,
          .advise("run this in your desktop session, not with sudo or in a service"))
      ]
    }
    let unit = agentUnit
    let isExplained = unit?.verdict == .wrong
    return [.right(.sessionBus, "answers")]
      + [agentConfiguration, unit, agent(isExplained: isExplained), notifications].compactMap { $0 } + handlers + outbox
  }

  var agentConfiguration: Finding? {
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

  func agent(isExplained: Bool) -> Finding? {
    let unit = seen.agentUnit.value
    switch seen.agent {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(.agent, "tagroute-agent does not answer (\(error.message))", setup.restarting(.agent, unit))
    case .given(nil):
      let text = "no agent runs in this session"
      return isExplained ? .note(.agent, text) : .wrong(.agent, text, setup.starting(.agent, unit))
    case .given(let status?) where !status.registered:
      guard seen.daemon.value != nil else { return .note(.agent, "the agent is waiting for tagrouted") }
      return unregistered(status.registrationError)
    case .given(let status?):
      if let difference = RunningProgram.agent.difference(version: status.version) {
        return .note(
          .agent, "\(difference); tags are still shown",
          setup.updating(difference, restarting: setup.restarting(.agent, unit)))
      }
      return .right(.agent, "tagroute-agent \(status.version) is registered")
    }
  }

  /// An agent that the daemon has not accepted.
  private func unregistered(_ error: AgentStatus.RegistrationError?) -> Finding {
    let text = "the agent is not registered with tagrouted"
    guard let error else {
      return .wrong(.agent, "\(text), and does not report why", setup.log(of: .agent, seen.agentUnit.value))
    }
    // The agent or the daemon has just started.
    if error.isNone { return .note(.agent, "the agent is being registered with tagrouted") }
    let remedy: Remedy =
      switch error.name {
      case Names.Errors.notASession:
        .run("loginctl session-status", "must show an active, local, graphical session of class user; log in to one")
      case Names.Errors.alreadyRegistered:
        .run(
          "pgrep --list-full --exact --euid \"$(id --user)\" \(RunningProgram.agent.program)",
          "lists your agents: stop the one of the other session, or log out there. If it lists one, another program is "
            + "registered: `busctl --system status NAME` shows it, with the bus name above")
      default: setup.log(of: .daemon, seen.daemonUnit.value)
      }
    return .wrong(.agent, "\(text) (\(error.message))", remedy)
  }

  private var notifications: Finding? {
    switch seen.notifications {
    case .notAsked: return nil
    case .failed(let error) where ![BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner].contains(error.name):
      return .wrong(
        .notifications, "the notification server does not answer (\(error.message)): taps go only to the inbox",
        .advise("restart it, or log in again; tagroute inbox lists the taps"))
    case .failed:
      let package = setup.installing(.notificationServer)
      return .wrong(
        .notifications, "no notification server runs in this session: taps go only to the inbox",
        Remedy(
          command: package.command,
          advice: [package.advice, "or start your desktop's notification server; tagroute inbox lists the taps"]
            .compactMap { $0 }.joined(separator: ", ")))
    case .given(let server):
      let name = server.version.isEmpty ? server.name : "\(server.name) \(server.version)"
      guard server.capabilities.contains("actions") else {
        return .wrong(
          .notifications, "\(name) shows no buttons, so notifications cannot open apps",
          .advise("turn off do-not-disturb, or use another server; tagroute inbox open opens taps"))
      }
      return .right(.notifications, "\(name) shows notifications with buttons")
    }
  }

  var handlers: [Finding] {
    guard case .given(let handlers) = seen.handlers else {
      guard case .failed(let error) = seen.handlers else { return [] }
      return [.wrong(.handlers, "the agent does not list the apps (\(error.message))", .run("tagroute handlers"))]
    }
    let broken = handlers.compactMap { handler in
      handler.problem.map { problem in
        Finding.wrong(
          .handlers, "\(handler.path)\(handler.line.map { ":\($0)" } ?? ""): \(problem)",
          .run("tagroute handlers --check", "checks again after the change"))
      }
    }
    let sound = handlers.count - broken.count
    let count =
      sound == 0
      ? Finding.note(.handlers, "no app is registered for tags; links go to the browser")
      : .right(.handlers, "\(sound) \(sound == 1 ? "app takes" : "apps take") tags")
    return [count] + broken
  }

  // MARK: The verdict

  /// Why no reader scans. Each lasting reason has its own line and a remedy; the others share a line.
  var scanning: [Finding] {
    guard let status = seen.daemon.value else { return [] }
    if status.scanning { return [.right(.scanning, "the readers scan for tags")] }
    if status.suspendReasons.isEmpty { return [.note(.scanning, "scanning is about to start")] }
    let lasting = status.suspendReasons.flatMap(lasting)
    let passing = status.suspendReasons.filter { self.lasting($0).isEmpty }.map(SuspendReason.words)
    return lasting + (passing.isEmpty ? [] : [.note(.scanning, "paused: \(passing.joined(separator: ", "))")])
  }

  /// The findings about a reason that does not pass by itself; empty for other reasons.
  private func lasting(_ reason: String) -> [Finding] {
    switch reason {
    case "disabled": return [.wrong(.scanning, "scanning is switched off", .run("tagroute on"))]
    case "lock-unknown":
      return [
        .wrong(
          .scanning, "no program reports whether the session is locked, and LockDetection=strict requires that",
          .run("tagroute session unlock", "or set LockDetection=hint in \(seen.configuration.file)"))
      ]
    case "airplane-mode":
      // The kernel or the desktop reports this. The daemon does not say which.
      return [
        .wrong(
          .scanning, "airplane mode: all radios are off, or the desktop reports it", setup.endingAirplaneMode)
      ]
    case "no-agent":
      guard let user = stationUser, seen.daemon.value?.stationActive == true else { return [] }
      return [.wrong(.scanning, "the station's agent, of user \(user), is not registered", startingStation(user))]
    case "session-locked":
      return [
        .note(
          .scanning, "paused: the session is locked",
          .run("tagroute session unlock", "only if you see that it is unlocked"))
      ]
    case "inhibited":
      return seen.inhibitors.map {
        .note(
          .scanning, "paused by \($0.who) (\($0.why))", .advise("scanning continues when process \($0.process) ends")
        )
      }
    default: return []
    }
  }
}
