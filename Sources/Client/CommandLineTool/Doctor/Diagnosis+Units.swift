import Names

extension Diagnosis {
  /// The finding about a unit.
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
