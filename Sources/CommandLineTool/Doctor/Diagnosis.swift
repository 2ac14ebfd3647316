import Bus
import KeyFile
import Names
import TagrouteClient

/// What is right, what is wrong and what mends it, of what was seen. Pure.
struct Diagnosis {
  let seen: Examination

  init(_ seen: Examination) { self.seen = seen }

  var setup: Setup { seen.setup }

  /// In the order of a tap's way: who follows a remedy from the top meets no consequence before its cause.
  var findings: [Finding] {
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
            ? .advise("look at DBUS_SYSTEM_BUS_ADDRESS; where that is not set, start the machine again")
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

  /// What is to be said of a configuration, the daemon's or the agent's.
  ///
  /// - Parameters:
  ///   - subject: which.
  ///   - settings: what the files say.
  ///   - service: who reads them.
  ///   - unit: its unit.
  ///   - isRunning: whether it runs, and so goes on with what it has read before.
  ///   - refused: the mistake for which it does, as it says itself.
  ///   - time: when what is in force was read, in microseconds since 1970.
  /// - Returns: the finding.
  func finding(
    _ subject: Finding.Subject, _ settings: Examination.Settings, _ service: RunningProgram, _ unit: Examination.Unit?,
    isRunning: Bool, refused: String? = nil, readAt time: UInt64? = nil
  ) -> Finding {
    let again = isRunning ? setup.reloading(service, unit) : setup.restarting(service, unit)
    let isRefused = refused?.isEmpty == false
    let newer = self.newer(settings, service, than: time)
    if settings.isForbidden, let mistake = settings.mistake, service == .daemon {
      let forbidden = "\(mistake.file) is not for you to read"
      if !isRunning { return .note(subject, forbidden, setup.checking(service, settings)) }
      // It need not have heard of the change: systemd has a reload fail at a mistake, and tells the daemon nothing.
      if !isRefused, let newer {
        return .note(subject, "\(forbidden); \(newer)", setup.checking(service, settings, then: again))
      }
      if !isRefused { return .right(subject, "\(forbidden); \(service.program) has read it and is content") }
    } else if let mistake = settings.mistake {
      let meanwhile = isRunning ? "; until then \(service.program) goes on with the former one" : ""
      // Of one that never ran another line says what starts it.
      let then = isRunning || unit?.load == "loaded" ? ", then \(again.text)" : ""
      guard mistake.line != nil else {
        return .wrong(subject, "\(mistake.file): \(mistake.problem)\(meanwhile)", .advise(mistake.remedy + then))
      }
      return .wrong(subject, mistake.description + meanwhile, .advise("change that line\(then)"))
    }
    if let refused, isRefused {
      return .wrong(subject, "\(service.program) goes on with the former one, for it has read \(refused)", again)
    }
    if let newer { return .note(subject, newer, again) }
    if settings.isNamed {
      return .right(subject, "\(settings.file) is in order; \(service.program) was told to read it")
    }
    return .right(
      subject, settings.isThere ? "\(settings.file) is in order" : "there is no \(settings.file): the defaults count")
  }

  /// Says that files have changed since a program has read them; nil where they have not, as far as can be seen.
  private func newer(_ settings: Examination.Settings, _ service: RunningProgram, than time: UInt64?) -> String? {
    guard let time else { return nil }
    if let changed = settings.changed, changed > time {
      let files = service == .daemon && !settings.isNamed ? "\(settings.file) or a drop-in" : settings.file
      return "\(files) is newer than what \(service.program) goes by"
    }
    guard let removed = settings.removed, removed > time else { return nil }
    return "there is no \(settings.file); if there was one, \(service.program) still goes by it"
  }

  /// Whether the system bus lets the daemon have its name, and everybody talk to it.
  private var policy: Finding? {
    if seen.daemon.value != nil { return .right(.policy, "the system bus lets you talk to tagrouted") }
    let isRefused =
      if case .failed(let error) = seen.daemon { error.name == BusError.Name.accessDenied } else { false }
    let unit = seen.daemonUnit.value
    let isKeptOff =
      unit.map { ["activating", "failed"].contains($0.active) && $0.exitStatus == Names.ExitCode.notAllowed } ?? false
    guard isRefused || isKeptOff else { return nil }
    let what = isRefused ? "does not let you talk to tagrouted" : "does not let tagrouted have its name"
    guard let file = seen.policyFile else {
      return .wrong(.policy, "the system bus \(what): there is no policy \(Self.policyName)", setup.installing)
    }
    return .wrong(
      .policy, "the system bus \(what), although there is \(file): it has not read it, or another policy overrules it",
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
          .daemon, "\(difference); tags are shown all the same",
          setup.updating(difference, restarting: setup.restarting(.daemon, unit)))
      }
      return .right(.daemon, "tagrouted \(status.version) answers")
    case .failed(let error):
      switch error.name {
      case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner, BusError.Name.accessDenied:
        let isRefused = error.name == BusError.Name.accessDenied
        let text = isRefused ? "tagrouted cannot be asked" : "tagrouted does not run"
        if isExplained { return .note(.daemon, text) }
        // What systemd has running without its name on the bus is nothing that a start would change.
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
        .polkit, "polkit does not answer (\(error.message)): reading and writing tags by command is refused",
        isAbsent && !isMasked ? setup.installing(.polkit) : setup.restartingPolkit(seen.polkitUnit.value))
    case .given(let actions):
      let missing = Self.actions.filter { !actions.contains($0) }
      guard missing.isEmpty else {
        return .wrong(
          .polkit,
          "polkit does not know \(missing.joined(separator: ", ")): their file in /usr/share/polkit-1/actions is missing",
          setup.installing)
      }
      return .right(.polkit, "knows our actions")
    }
  }

  static let policyName = "\(Names.Daemon.busName).conf"
  static let actions = [
    Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
    Names.PolkitAction.writeTags,
  ]
}
