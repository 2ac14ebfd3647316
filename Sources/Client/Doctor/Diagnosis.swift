import Bus
import Names
import Settings
import TagrouteClient

/// Turns an examination into findings with remedies. Pure.
package struct Diagnosis {
  let seen: Examination

  package init(_ seen: Examination) { self.seen = seen }

  var setup: Setup { seen.setup }

  /// In the order of a tap's path, so that a cause comes before its consequences.
  package var findings: [Finding] {
    ([versions] + machine + readers + session + scanning).map { $0.shortened(seen.home) }
  }

  private var versions: Finding { .right(.versions, seen.versions.joined(separator: ", ")) }

  // MARK: The machine

  private var machine: [Finding] {
    if let error = seen.systemBus {
      return [
        configuration,
        .wrong(
          .systemBus, error.message,
          error.name == BusError.Name.timeout
            ? .advise("check DBUS_SYSTEM_BUS_ADDRESS; if it is not set, reboot")
            : setup.startingSystemBus),
      ]
    }
    let unit = daemonUnit
    let policy = policy
    let isExplained = [unit, policy].contains { $0?.verdict == .wrong }
    return [.right(.systemBus, "answers"), configuration]
      + [policy, unit, daemon(isExplained: isExplained), polkit].compactMap { $0 }
  }

  private var configuration: Finding {
    let status = seen.systemBus == nil ? seen.daemon.value : nil
    return finding(
      .configuration, seen.configuration, .daemon, seen.daemonUnit.value, isRunning: status != nil,
      refused: status?.configurationError, readAt: status?.configurationTime)
  }

  /// `settings` are the files, `service` the program that reads them. If `isRunning`, the program has the configuration
  /// that it last read, at `time` (in microseconds since 1970). `refused` is the error in the new configuration, as the
  /// program reports it.
  func finding(
    _ subject: Finding.Subject, _ settings: Examination.Settings, _ service: RunningProgram, _ unit: Examination.Unit?,
    isRunning: Bool, refused: String? = nil, readAt time: UInt64? = nil
  ) -> Finding {
    let again = isRunning ? setup.reloading(service, unit) : setup.restarting(service, unit)
    let isRefused = refused?.isEmpty == false
    let newer = self.newer(settings, service, than: time)
    if settings.isForbidden, let mistake = settings.mistake, service == .daemon {
      let forbidden = "you may not read \(mistake.file)"
      if !isRunning { return .note(subject, forbidden, setup.checking(service, settings)) }
      // The daemon may not know of the change: if the file has an error, `systemctl reload` fails before the daemon
      // gets SIGHUP.
      if !isRefused, let newer {
        return .note(subject, "\(forbidden); \(newer)", setup.checking(service, settings, then: again))
      }
      if !isRefused { return .right(subject, "\(forbidden); \(service.program) has read it without errors") }
    } else if let mistake = settings.mistake {
      let meanwhile = isRunning ? "; until then \(service.program) uses the previous configuration" : ""
      // If it never ran, another finding says how to start it.
      let then = isRunning || unit?.load == "loaded" ? ", then \(again.text)" : ""
      guard mistake.line != nil else {
        return .wrong(subject, "\(mistake.file): \(mistake.problem)\(meanwhile)", .advise(mistake.remedy + then))
      }
      return .wrong(subject, mistake.description + meanwhile, .advise("fix that line\(then)"))
    }
    if let refused, isRefused {
      return .wrong(
        subject, "\(service.program) uses the previous configuration, because the new one has an error: \(refused)",
        again)
    }
    if let newer { return .note(subject, newer, again) }
    if settings.isNamed {
      return .right(subject, "\(settings.file) has no errors; \(service.program) was started with it")
    }
    return .right(
      subject, settings.isThere ? "\(settings.file) has no errors" : "there is no \(settings.file): the defaults apply")
  }

  /// Reports files that changed after the program read them; nil if no change is visible.
  private func newer(_ settings: Examination.Settings, _ service: RunningProgram, than time: UInt64?) -> String? {
    guard let time else { return nil }
    if let changed = settings.changed, changed > time {
      let files = service == .daemon && !settings.isNamed ? "\(settings.file) or a drop-in" : settings.file
      return "\(files) changed after \(service.program) read it"
    }
    guard let removed = settings.removed, removed > time else { return nil }
    return "there is no \(settings.file); if it was removed, \(service.program) still uses it"
  }

  /// Whether the system bus allows the daemon to own its name, and users to call it.
  private var policy: Finding? {
    if seen.daemon.value != nil { return .right(.policy, "the system bus lets you talk to tagrouted") }
    let isRefused =
      if case .failed(let error) = seen.daemon { error.name == BusError.Name.accessDenied } else { false }
    let unit = seen.daemonUnit.value
    let isKeptOff =
      unit.map { ["activating", "failed"].contains($0.active) && $0.exitStatus == Names.ExitCode.notAllowed } ?? false
    guard isRefused || isKeptOff else { return nil }
    let what = isRefused ? "does not let you talk to tagrouted" : "does not let tagrouted own its name"
    guard let file = seen.policyFile else {
      return .wrong(.policy, "the system bus \(what): its policy \(Self.policyName) is missing", setup.installing)
    }
    return .wrong(
      .policy,
      "the system bus \(what), although \(file) exists: the bus has not read it, or another policy overrides it",
      setup.readingPolicy(.daemon))
  }

  private var daemonUnit: Finding? {
    seen.daemonUnit.value.map { finding(.daemonUnit, .daemon, $0, isRunning: seen.daemon.value != nil) }
  }

  private func daemon(isExplained: Bool) -> Finding? {
    let unit = seen.daemonUnit.value
    switch seen.daemon {
    case .notAsked: return nil
    case .given(let status):
      if let difference = RunningProgram.daemon.difference(version: status.version) {
        return .note(
          .daemon, "\(difference); tags are still shown",
          setup.updating(difference, restarting: setup.restarting(.daemon, unit)))
      }
      return .right(.daemon, "tagrouted \(status.version) answers")
    case .failed(let error):
      switch error.name {
      case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner, BusError.Name.accessDenied:
        let isRefused = error.name == BusError.Name.accessDenied
        let text = isRefused ? "tagrouted cannot be reached" : "tagrouted is not running"
        if isExplained { return .note(.daemon, text) }
        // If systemd runs it without its bus name, starting it has no effect.
        let isActive = unit?.active == "active"
        return .wrong(.daemon, text, isActive ? setup.restarting(.daemon, unit) : setup.starting(.daemon, unit))
      default:
        return .wrong(.daemon, "tagrouted does not answer (\(error.message))", setup.restarting(.daemon, unit))
      }
    }
  }

  private var polkit: Finding? {
    switch seen.polkitActions {
    case .notAsked: return nil
    case .failed(let error):
      let isAbsent = [BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner].contains(error.name)
      let isMasked = seen.polkitUnit.value?.load == "masked"
      return .wrong(
        .polkit, "polkit does not answer (\(error.message)): commands that read or write tags are refused",
        isAbsent && !isMasked ? setup.installing(.polkit) : setup.restartingPolkit(seen.polkitUnit.value))
    case .given(let actions):
      let missing = Self.actions.filter { !actions.contains($0) }
      guard missing.isEmpty else {
        return .wrong(
          .polkit,
          "polkit does not know \(missing.joined(separator: ", ")): its file in /usr/share/polkit-1/actions is missing",
          setup.installing)
      }
      return .right(.polkit, "knows Tagroute's actions")
    }
  }

  static let policyName = "\(Names.Daemon.busName).conf"
  static let actions = [
    Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
    Names.PolkitAction.writeTags,
  ]
}

extension Diagnosis {
  func finding(
    _ subject: Finding.Subject, _ service: RunningProgram, _ unit: Examination.Unit, isRunning: Bool
  ) -> Finding {
    let name = service.unit
    let start = setup.starting(service, unit)
    /// If the program runs anyway, note that the unit will not start it next time.
    func broken(_ text: String, _ remedy: Remedy) -> Finding {
      isRunning
        ? .note(subject, "\(text); \(service.program) runs, but not from this unit", remedy)
        : .wrong(subject, text, remedy)
    }
    switch unit.load {
    case "loaded": break
    case "masked": return broken("\(name) is masked", start)
    case "not-found":
      // A program that was started from a build needs no unit.
      guard !isRunning else {
        return .note(subject, "\(name) is not installed; \(service.program) runs, but not from this unit")
      }
      return .wrong(subject, "\(name) is not installed", start)
    default:
      let reason = unit.loadError.isEmpty ? unit.load : unit.loadError
      return broken("systemd cannot read \(name) (\(reason))", start)
    }
    switch unit.active {
    case "active", "reloading": return running(subject, service, unit)
    case "activating":
      guard unit.sub == "auto-restart" || unit.restarts > 0 else { return .note(subject, "\(name) is starting") }
      return .wrong(
        subject, "\(name) keeps restarting: \(service.program) \(ending(unit))",
        setup.log(of: service, unit))
    case "failed":
      return broken(
        "\(name) failed: \(service.program) \(ending(unit))",
        Remedy(
          command: setup.restarting(service, unit).command, advice: "\(service.journalctl) -u \(name) -n 20 shows why"))
    default:
      guard !isRunning else {
        return .note(subject, "\(name) is \(unit.active); \(service.program) runs, but not from this unit")
      }
      // Starting it again would have the same result, and report success.
      guard !unit.missesCondition else {
        return .wrong(
          subject, "\(name) is \(unit.active), because a condition of the unit is not met",
          .run("\(service.systemctl) status \(name)", "shows the condition"))
      }
      if service == .agent, let finding = waiting(unit) { return finding }
      return .wrong(subject, "\(name) is \(unit.active)", start)
    }
  }

  /// A unit that runs now, but may not start the next time.
  private func running(_ subject: Finding.Subject, _ service: RunningProgram, _ unit: Examination.Unit) -> Finding {
    let name = service.unit
    if unit.file == "disabled" {
      return .note(
        subject, "\(name) is \(unit.active), but will not start automatically the next time",
        .run("\(service.systemctl) enable \(name)"))
    }
    if service == .agent, let session = seen.graphicalSession.value, session.active != "active" {
      return .note(
        subject,
        "\(name) is \(unit.active), but does not start automatically in this desktop, which has no \(Self.target)",
        compositorLine)
    }
    return .right(subject, "\(name) is \(unit.active)")
  }

  /// The agent's unit, if the session does not start it.
  private func waiting(_ unit: Examination.Unit) -> Finding? {
    guard unit.file != "disabled", let session = seen.graphicalSession.value, session.active != "active" else {
      return nil
    }
    return .wrong(
      .agentUnit, "\(RunningProgram.agent.unit) waits for \(Self.target), which this desktop does not start",
      .run(
        "\(RunningProgram.agent.systemctl) start \(RunningProgram.agent.unit)",
        "starts it now; for later logins, \(compositorLine.text)"))
  }

  private static let target = "graphical-session.target"
  /// The keyword is the same for sway and i3.
  private var compositorLine: Remedy {
    .advise(
      "put the line \"exec \(setup.program(RunningProgram.agent.program))\" in the configuration of your compositor")
  }

  /// How the program of a service last ended.
  private func ending(_ unit: Examination.Unit) -> String {
    switch unit.exitStatus {
    case Names.ExitCode.configuration?: "reports an error in its configuration"
    case Names.ExitCode.alreadyRunning?: "reports that another instance is running"
    case Names.ExitCode.notAllowed?: "reports that it may not own its name on the bus"
    case Names.ExitCode.unavailable?: "reports that it cannot use the bus"
    case let code? where code != 0: "ended with code \(code)"
    default: "ended (\(unit.result))"
    }
  }
}
