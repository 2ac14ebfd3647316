import Names

extension Diagnosis {
  /// What is to be said of a unit, the daemon's or the agent's.
  func finding(
    _ subject: Finding.Subject, _ service: RunningProgram, _ unit: Examination.Unit, isRunning: Bool
  ) -> Finding {
    let name = service.unit
    let start = setup.starting(service, unit)
    /// Of what runs nevertheless it is worth knowing that it will not the next time.
    func broken(_ text: String, _ remedy: Remedy) -> Finding {
      isRunning
        ? .note(subject, "\(text); \(service.program) was started in another way", remedy)
        : .wrong(subject, text, remedy)
    }
    switch unit.load {
    case "loaded": break
    case "masked": return broken("\(name) is masked", start)
    case "not-found":
      // Who starts it in another way, from a build say, misses nothing.
      guard !isRunning else {
        return .note(subject, "\(name) is not installed; \(service.program) was started in another way")
      }
      return .wrong(subject, "\(name) is not installed", start)
    default:
      let reason = unit.loadError.isEmpty ? unit.load : unit.loadError
      return broken("systemd cannot read \(name) (\(reason))", start)
    }
    switch unit.active {
    case "active", "reloading": return running(subject, service, unit)
    case "activating":
      guard unit.sub == "auto-restart" || unit.restarts > 0 else { return .note(subject, "\(name) is being started") }
      return .wrong(
        subject, "\(name) is started again and again: \(service.program) \(ending(unit))",
        setup.log(of: service, unit))
    case "failed":
      return broken(
        "\(name) has failed: \(service.program) \(ending(unit))",
        Remedy(
          command: setup.restarting(service, unit).command, advice: "\(service.journalctl) -u \(name) -n 20 says why"))
    default:
      guard !isRunning else { return .note(subject, "\(name) is \(unit.active); it was started in another way") }
      // Another try would end the same way, and say that all is well.
      guard !unit.missesCondition else {
        return .wrong(
          subject, "\(name) is \(unit.active), since a condition of the unit does not hold",
          .run("\(service.systemctl) status \(name)", "it names the condition"))
      }
      if service == .agent, let finding = waiting(unit) { return finding }
      return .wrong(subject, "\(name) is \(unit.active)", start)
    }
  }

  /// What runs now, and may not the next time.
  private func running(_ subject: Finding.Subject, _ service: RunningProgram, _ unit: Examination.Unit) -> Finding {
    let name = service.unit
    if unit.file == "disabled" {
      return .note(
        subject, "\(name) is \(unit.active), and is not started by itself the next time",
        .run("\(service.systemctl) enable \(name)"))
    }
    if service == .agent, let session = seen.graphicalSession.value, session.active != "active" {
      return .note(
        subject, "\(name) is \(unit.active), and is not started by itself in this desktop, which has no \(Self.target)",
        compositorLine)
    }
    return .right(subject, "\(name) is \(unit.active)")
  }

  /// The agent's unit where the session does not start it.
  private func waiting(_ unit: Examination.Unit) -> Finding? {
    guard unit.file != "disabled", let session = seen.graphicalSession.value, session.active != "active" else {
      return nil
    }
    return .wrong(
      .agentUnit, "\(RunningProgram.agent.unit) waits for \(Self.target), which this desktop does not start",
      .run(
        "\(RunningProgram.agent.systemctl) start \(RunningProgram.agent.unit)",
        "now; for the next time \(compositorLine.text)"))
  }

  private static let target = "graphical-session.target"
  /// sway and i3 have the same word for it.
  private var compositorLine: Remedy {
    .advise(
      "put the line \"exec \(setup.program(RunningProgram.agent.program))\" in the configuration of your compositor")
  }

  /// How a service's program ended the last time.
  private func ending(_ unit: Examination.Unit) -> String {
    switch unit.exitStatus {
    case Names.ExitCode.configuration?: "says that its configuration is wrong"
    case Names.ExitCode.alreadyRunning?: "says that another one runs already"
    case Names.ExitCode.notAllowed?: "says that it may not have its name on the bus"
    case Names.ExitCode.unavailable?: "says that it cannot use the bus"
    case let code? where code != 0: "ends with \(code)"
    default: "has ended (\(unit.result))"
    }
  }
}
