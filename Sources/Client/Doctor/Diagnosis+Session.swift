import Bus
import Names
package import TagrouteClient

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
      + [agentConfiguration, unit, agent(isExplained: isExplained), notifications].compactMap { $0 } + handlers + rules
      + outbox
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
    let isHeadless = seen.agent.value.flatMap { $0 }?.headless == true
    let count =
      sound == 0
      ? Finding.note(
        .handlers, "no app is registered for tags; " + (isHeadless ? "only rules act" : "links go to the browser"))
      : .right(.handlers, "\(sound) \(sound == 1 ? "app takes" : "apps take") tags")
    return [count] + broken
  }

  /// The files of rules, which the agent reads in the same way.
  private var rules: [Finding] {
    let check = Remedy.run("tagroute rules --check", "checks again after the change")
    let count = seen.rules.count
    let sound = count == 0 ? "there are no rules" : count == 1 ? "1 rule is in force" : "\(count) rules are in force"
    return [.right(.rules, sound)] + seen.rules.mistakes.map { .wrong(.rules, "\($0)", check) }
      + seen.rules.warnings.map { .note(.rules, "\($0)", check) }
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
    case SuspendReason.disabled: return [.note(.scanning, "off", .run("tagroute on", "starts it"))]
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
      guard let user = stationUser, seen.daemon.value?.stationActive == true else {
        return [agentElsewhere].compactMap(\.self)
      }
      return [.wrong(.scanning, "the station's agent, of user \(user), is not registered", Self.startingStation(user))]
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

  /// A user may have several sessions, with one agent for all of them.
  private var agentElsewhere: Finding? {
    guard seen.agent.value.flatMap({ $0 })?.registered == true,
      SuspendReason.lackAgent(seen.daemon.value?.suspendReasons ?? [])
    else { return nil }
    let restarting = setup.restarting(.agent, seen.agentUnit.value)
    let condition = "if the active session is yours: the agent then serves it. If it is another user's, start one there"
    return .wrong(
      .scanning,
      "the active session at the reader's seat has no agent: yours serves another session, in the background",
      Remedy(
        command: restarting.command, advice: [restarting.advice, condition].compactMap(\.self).joined(separator: "; "))
    )
  }
}

/// A station: a machine without a desktop. Its taps go to the agent of one user.
extension Diagnosis {
  /// The user of the station; nil if this machine is not one, or the daemon does not answer.
  var stationUser: String? {
    guard let name = seen.daemon.value?.stationUser, !name.isEmpty else { return nil }
    return name
  }

  /// The findings about the session on a station; nil if the usual ones apply: this machine is not a station, or the
  /// user has an agent with a desktop.
  var station: [Finding]? {
    guard let user = stationUser else { return nil }
    let isActive = seen.daemon.value?.stationActive == true
    let finding =
      isActive
      ? Finding.right(.station, "this machine is a station: taps go to user \(user)")
      : .note(
        .station, "this machine is a station, but another user is logged in at the machine, or logind is gone",
        .advise("log out at the machine: loginctl list-sessions names the session"))
    guard let agent = seen.agent.value.flatMap({ $0 }) else { return [finding, elsewhere(user)] }
    guard agent.headless else { return nil }
    var own = seen
    // The unit of a desktop's agent is not the one that runs this agent.
    own.agentUnit = .notAsked
    let diagnosis = Diagnosis(own)
    return [finding] + [diagnosis.agentConfiguration, diagnosis.agent(isExplained: false)].compactMap { $0 } + handlers
      + rules + outbox
  }

  /// The agent of the station is on the session bus of its user.
  private func elsewhere(_ user: String) -> Finding {
    .note(
      .agent, "the station's agent belongs to user \(user), and this is another session",
      .run(Self.asStation(user, "doctor"), "examines the agent of the station"))
  }

  /// A shell command for root: a command of tagroute as the user of a station.
  package static func asStation(_ user: String, _ command: String) -> String {
    "sudo -u \(user) XDG_RUNTIME_DIR=/run/user/$(id -u \(user)) tagroute \(command)"
  }

  package static func startingStation(_ user: String) -> Remedy {
    .run(
      "sudo loginctl enable-linger \(user) && sudo systemctl --user --machine=\(user)@ restart tagroute-station.service",
      "docs/stations.md")
  }
}

/// The taps that wait to be sent to an MQTT broker, and the program that sends them.
extension Diagnosis {
  /// Empty if there is no `mqtt.conf`, no tap waits and none was dropped.
  var outbox: [Finding] {
    guard let outgoing = seen.agent.value.flatMap({ $0 })?.outgoing, outgoing.isOfInterest else { return [] }
    let wait = minutes(outgoing)
    let isLate = wait.map { $0 >= Self.patience } ?? false
    let mqtt = mqtt(outgoing, isLate: isLate)
    return [mqtt, taps(outgoing, wait, isLate: isLate, isExplained: mqtt?.verdict == .wrong)].compactMap { $0 }
  }

  /// For how many minutes a tap may wait. A broker that restarts takes less.
  private static let patience: UInt64 = 10

  /// For how many minutes the first tap has waited; nil if none waits. 0 if the clock went back meanwhile.
  private func minutes(_ outgoing: AgentStatus.Outgoing) -> UInt64? {
    outgoing.oldest.map { $0 < seen.now ? (seen.now - $0) / 60_000_000 : 0 }
  }

  private func mqtt(_ outgoing: AgentStatus.Outgoing, isLate: Bool) -> Finding? {
    let unit = seen.mqttUnit.value
    switch seen.mqtt {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(.mqtt, "tagroute-mqtt does not answer (\(error.message))", setup.restarting(.mqtt, unit))
    case .given(nil):
      guard outgoing.on else { return .note(.mqtt, "there is no mqtt.conf, so no program sends taps") }
      let start = setup.starting(.mqtt, unit)
      // With an error in the file, every start fails.
      let check = setup.checking(.mqtt, Examination.Settings(file: "mqtt.conf", isThere: true), then: start)
      return .wrong(
        .mqtt, "there is an mqtt.conf, but tagroute-mqtt does not run: no tap is sent",
        unit?.load == "not-found" ? start : check)
    case .given(let status?):
      let place = "\(status.broker) as \(status.station)"
      if status.isConnected { return .right(.mqtt, "tagroute-mqtt is connected to \(place)") }
      let reason = status.stateReason.isEmpty ? "" : " (\(status.stateReason))"
      let text =
        status.isBrokerInReason
        ? "tagroute-mqtt is \(status.state) as \(status.station): \(status.stateReason)"
        : "tagroute-mqtt is \(status.state), and not connected to \(place)\(reason)"
      return isLate ? .wrong(.mqtt, text, setup.log(of: .mqtt, unit)) : .note(.mqtt, text)
    }
  }

  private func taps(
    _ outgoing: AgentStatus.Outgoing, _ wait: UInt64?, isLate: Bool, isExplained: Bool
  ) -> Finding {
    var text = outgoing.waiting == 0 ? "no tap waits to be sent" : "taps that wait to be sent: \(outgoing.waiting)"
    if isLate, let wait { text += ", the oldest for \(wait) minutes" }
    if outgoing.dropped > 0 { text += "; dropped before they were sent: \(outgoing.dropped)" }
    if isLate && !isExplained {
      return .wrong(.outbox, text, setup.log(of: .mqtt, seen.mqttUnit.value))
    }
    return isLate || outgoing.dropped > 0 ? .note(.outbox, text) : .right(.outbox, text)
  }
}

extension MqttStatus {
  /// Whether the reason names the broker.
  package var isBrokerInReason: Bool { !broker.isEmpty && stateReason.contains(broker) }
}
