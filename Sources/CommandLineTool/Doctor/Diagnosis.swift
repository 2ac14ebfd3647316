import Bus
import Names
import TagrouteClient

/// What is right, what is wrong and what mends it, of what was seen. Pure.
struct Diagnosis {
  private let seen: Examination

  init(_ seen: Examination) { self.seen = seen }

  /// In the order of a tap's way: who follows a remedy from the top meets no consequence before its cause.
  var findings: [Finding] {
    system + readers + session + [scanning].compactMap { $0 }
  }

  // MARK: The machine

  private var system: [Finding] {
    if let error = seen.systemBus {
      return [
        .wrong(
          .systemBus, "there is no system bus (\(error.message))",
          remedy: "sudo systemctl start dbus.socket, or look at DBUS_SYSTEM_BUS_ADDRESS")
      ]
    }
    return [.right(.systemBus, "answers")] + [configuration, daemonUnit, daemon, polkit].compactMap { $0 }
  }

  private var configuration: Finding? {
    guard let mistake = seen.configuration else {
      return .right(.configuration, "\(Names.Files.daemonConfiguration) is in order")
    }
    return .wrong(.configuration, mistake, remedy: "then sudo systemctl restart \(Self.daemonUnitName)")
  }

  private var daemonUnit: Finding? {
    switch seen.daemonUnit {
    // No systemd: whoever starts the daemon then is none of our business.
    case .notAsked, .failed: return nil
    case .given(let unit):
      let isRunning = seen.daemon.value != nil
      return finding(of: unit, .daemonUnit, Self.daemonUnitName, systemctl: "sudo systemctl", isRunning: isRunning)
    }
  }

  private func finding(
    of unit: Examination.Unit, _ subject: Finding.Subject, _ name: String, systemctl: String, isRunning: Bool
  ) -> Finding {
    let journal = systemctl.hasSuffix("--user") ? "journalctl --user" : "sudo journalctl"
    switch (unit.load, unit.active) {
    case ("masked", _): return .wrong(subject, "\(name) is masked", remedy: "\(systemctl) unmask --now \(name)")
    case ("loaded", "active"), ("loaded", "reloading"), ("loaded", "activating"):
      return .right(subject, "\(name) is \(unit.active)")
    case ("loaded", "failed"):
      return .wrong(
        subject, "\(name) has failed", remedy: "\(journal) -u \(name) says why; then \(systemctl) restart \(name)")
    case ("loaded", _):
      // Started by hand, or not at all: what does not run is said once.
      guard !isRunning else { return .note(subject, "\(name) is \(unit.active); it was started in another way") }
      return .wrong(subject, "\(name) is \(unit.active)", remedy: "\(systemctl) enable --now \(name)")
    default:
      return .note(subject, "\(name) is not installed (\(unit.load))")
    }
  }

  private var daemon: Finding? {
    switch seen.daemon {
    case .notAsked: return nil
    case .given(let status):
      guard status.version == Names.version else {
        return .wrong(
          .daemon, "tagrouted is version \(status.version), this is \(Names.version)",
          remedy: "sudo systemctl restart \(Self.daemonUnitName)")
      }
      return .right(.daemon, "tagrouted \(status.version) answers")
    case .failed(let error):
      switch error.name {
      case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner:
        return .wrong(.daemon, "tagrouted does not run", remedy: "sudo systemctl enable --now \(Self.daemonUnitName)")
      case BusError.Name.accessDenied:
        return .wrong(
          .daemon, "the policy of the system bus does not let you talk to tagrouted",
          remedy: "install the tagroute package again for \(Self.policyFile), then sudo systemctl reload dbus")
      default:
        return .wrong(
          .daemon, "tagrouted does not answer (\(error.message))",
          remedy: "sudo systemctl restart \(Self.daemonUnitName)")
      }
    }
  }

  private var polkit: Finding? {
    switch seen.polkitActions {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(
        .polkit, "polkit does not answer (\(error.message)): reading and writing tags by command is refused",
        remedy: "sudo apt install polkitd, or start what your distribution has")
    case .given(let actions):
      let missing = Self.actions.filter { !actions.contains($0) }
      guard missing.isEmpty else {
        return .wrong(
          .polkit, "polkit does not know \(missing.joined(separator: ", "))",
          remedy: "install the tagroute package again, for its file in /usr/share/polkit-1/actions")
      }
      return .right(.polkit, "knows our actions")
    }
  }

  // MARK: Readers

  private var readers: [Finding] {
    var findings = seen.kernelModules.map { module in
      Finding.wrong(
        .kernelModule, "\(module) is loaded, and takes readers before libnfc can",
        remedy: "sudo modprobe -r \(module), and blacklist \(module) in /etc/modprobe.d")
    }
    if findings.isEmpty { findings = [.right(.kernelModule, "none takes readers")] }
    if seen.hasPCSCD {
      findings.append(
        .note(
          .pcscd, "pcscd is there, and takes readers that it knows, an ACR122U say",
          remedy: "sudo systemctl disable --now pcscd.socket pcscd.service, where you do not need it"))
    }
    guard let status = seen.daemon.value else { return findings }
    if status.readers.isEmpty {
      findings.append(
        .wrong(
          .reader, "there is none that libnfc drives",
          remedy: "plug one in, or name its port under [Reader] Devices= in \(Names.Files.daemonConfiguration)"))
    }
    return findings + status.readers.map(finding)
  }

  private func finding(of reader: ReaderStatus) -> Finding {
    let name = reader.name.isEmpty ? reader.device : "\(reader.name) (\(reader.device))"
    guard ["absent", "failed"].contains(reader.state) else {
      return .right(.reader, "\(name) on \(reader.seat) is \(reader.state)")
    }
    return .wrong(
      .reader, "\(name) is \(reader.state)",
      remedy: reader.stateReason.isEmpty ? "sudo journalctl -u \(Self.daemonUnitName) says why" : reader.stateReason)
  }

  // MARK: The session

  private var session: [Finding] {
    if let error = seen.sessionBus {
      return [
        .wrong(
          .sessionBus, "there is no session bus (\(error.message))",
          remedy: "call this in your desktop session, not by sudo or in a service")
      ]
    }
    return [.right(.sessionBus, "answers")]
      + [agentConfiguration, agentUnit, agent, notifications].compactMap { $0 } + handlers
  }

  private var agentConfiguration: Finding? {
    guard let mistake = seen.agentConfiguration else { return nil }
    return .wrong(.agentConfiguration, mistake, remedy: "then \(Self.userctl) restart \(Self.agentUnitName)")
  }

  private var agentUnit: Finding? {
    guard let unit = seen.agentUnit.value else { return nil }
    let isRunning = seen.agent.value.flatMap { $0 } != nil
    return finding(of: unit, .agentUnit, Self.agentUnitName, systemctl: Self.userctl, isRunning: isRunning)
  }

  private var agent: Finding? {
    switch seen.agent {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(
        .agent, "tagroute-agent does not answer (\(error.message))",
        remedy: "\(Self.userctl) restart \(Self.agentUnitName)")
    case .given(nil):
      return .wrong(
        .agent, "no agent runs in this session",
        remedy: "\(Self.userctl) enable --now \(Self.agentUnitName), or start tagroute-agent")
    case .given(let status?) where status.version != Names.version:
      return .wrong(
        .agent, "the agent is version \(status.version), this is \(Names.version)",
        remedy: "\(Self.userctl) restart \(Self.agentUnitName), or log out and in")
    case .given(let status?) where !status.registered:
      guard seen.daemon.value != nil else { return .note(.agent, "waits for tagrouted") }
      return .wrong(
        .agent, "the agent is not registered with tagrouted: this session is not one that may have the reader",
        remedy: "loginctl session-status has to show an active, local, graphical session of class user")
    case .given(let status?): return .right(.agent, "tagroute-agent \(status.version) is registered")
    }
  }

  private var notifications: Finding? {
    switch seen.notifications {
    case .notAsked: return nil
    case .failed:
      return .wrong(
        .notifications, "nobody shows notifications on this session's bus: taps go to the inbox alone",
        remedy: "start your desktop's notification server, or sudo apt install dunst; tagroute inbox has the taps")
    case .given(let server):
      let name = server.version.isEmpty ? server.name : "\(server.name) \(server.version)"
      guard server.capabilities.contains("actions") else {
        return .wrong(
          .notifications, "\(name) shows no buttons, so a notification opens nothing",
          remedy: "end do-not-disturb, or use another server; tagroute inbox open opens taps")
      }
      return .right(.notifications, "\(name) shows them, with buttons")
    }
  }

  private var handlers: [Finding] {
    guard case .given(let handlers) = seen.handlers else {
      guard case .failed(let error) = seen.handlers else { return [] }
      return [.wrong(.handlers, "the agent does not list them (\(error.message))", remedy: "tagroute handlers")]
    }
    let broken = handlers.compactMap { handler in
      handler.problem.map { problem in
        Finding.wrong(
          .handlers, "\(handler.path)\(handler.line.map { ":\($0)" } ?? ""): \(problem)",
          remedy: "tagroute handlers --check looks again")
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

  private var scanning: Finding? {
    guard let status = seen.daemon.value else { return nil }
    if status.scanning { return .right(.scanning, "tags are looked for") }
    guard let reason = status.suspendReasons.first else { return .note(.scanning, "it is about to begin") }
    let words = status.suspendReasons.map(StatusReport.words).joined(separator: ", ")
    // What is to be mended of these is named above, with its remedy.
    guard reason == "disabled" else { return .note(.scanning, "not now: \(words)") }
    return .wrong(.scanning, "it is switched off", remedy: "tagroute on")
  }

  private static let daemonUnitName = "tagrouted.service"
  private static let agentUnitName = "tagroute-agent.service"
  private static let userctl = "systemctl --user"
  private static let policyFile = "/usr/share/dbus-1/system.d/\(Names.Daemon.busName).conf"
  static let actions = [
    Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
    Names.PolkitAction.writeTags,
  ]
}
