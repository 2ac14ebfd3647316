import Names

/// How Tagroute is installed and run on this system: what decides which command is a remedy. Every one that depends on that is here.
struct Setup: Hashable, Sendable {
  /// Where the programs come from.
  enum Programs: Hashable, Sendable {
    /// A package of the distribution.
    case package
    /// `Packaging/install` with another prefix than packages have.
    case prefix(String)
    /// Nobody has installed them: this folder is what a build has made.
    case build(String)
  }

  /// What installs packages here.
  enum PackageTool: String, Hashable, Sendable, CaseIterable {
    case apt
    case dnf
    case zypper
    case pacman
  }

  /// What belongs to others, and is in a package of theirs.
  enum Package: Hashable, Sendable {
    case polkit
    case notificationServer
  }

  var programs = Programs.package
  /// Nil where the distribution is none that is known here.
  var packageTool: PackageTool?
  /// Whether systemd is the system's manager (sd_booted(3)).
  var hasSystemd = true
  /// Whether there is the user that the daemon runs as.
  var hasUser = true
  /// What this runs on, in the distribution's own words and the kernel's; empty where nobody tells.
  var system = ""

  /// - Parameters:
  ///   - folder: where this program is.
  ///   - hasDaemon: whether the daemon is in the libexec of the same prefix.
  ///   - release: the contents of os-release(5).
  ///   - hasSystemd: whether systemd is the system's manager.
  ///   - hasUser: whether there is the user that the daemon runs as.
  init(folder: String?, hasDaemon: Bool, release: String, hasSystemd: Bool = true, hasUser: Bool = true) {
    (self.hasSystemd, self.hasUser) = (hasSystemd, hasUser)
    switch folder {
    case nil, "/usr/bin"?, "/bin"?: programs = .package
    case let folder? where folder.hasSuffix("/bin") && hasDaemon: programs = .prefix(String(folder.dropLast(4)))
    case let folder?: programs = .build(folder)
    }
    var values: [Substring: String] = [:]
    for line in release.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      values[line[..<equals]] = line[line.index(after: equals)...].filter { $0 != "\"" && $0 != "'" }
    }
    system = values["PRETTY_NAME"] ?? values["NAME"] ?? ""
    let names = "\(values["ID"] ?? "") \(values["ID_LIKE"] ?? "")".split(separator: " ")
    packageTool = names.lazy.compactMap { Self.tools[$0] }.first
  }

  private static let tools: [Substring: PackageTool] = [
    "debian": .apt, "ubuntu": .apt, "fedora": .dnf, "rhel": .dnf, "suse": .zypper, "opensuse": .zypper,
    "opensuse-tumbleweed": .zypper, "arch": .pacman,
  ]

  private static let autostart = "it starts with the next session where that starts what is in /etc/xdg/autostart"

  private var isInstalled: Bool { if case .build = programs { false } else { true } }

  /// The path of a program that no person starts.
  func program(_ name: String) -> String {
    switch programs {
    case .package: "/usr/libexec/\(name)"
    case .prefix(let prefix): "\(prefix)/libexec/\(name)"
    case .build(let folder): "\(folder)/\(name)"
    }
  }

  /// Puts the files of Tagroute where they belong.
  var installing: Remedy {
    let archive = "or install the file that it came from in the same way"
    return switch (programs, packageTool) {
    case (.package, .apt?): .run("sudo apt-get install --reinstall tagroute", archive)
    case (.package, .dnf?): .run("sudo dnf reinstall tagroute", archive)
    case (.package, .zypper?): .run("sudo zypper install --force tagroute", archive)
    case (.package, .pacman?): .run("sudo pacman --sync tagroute", archive)
    case (.package, nil): .advise("install the package tagroute again")
    // Packaging/install puts them nowhere else.
    case (.prefix(let prefix), _) where !["/usr", "/usr/local"].contains(prefix):
      .advise("put the files of Tagroute below \(prefix) again, in the way they came there")
    case (.prefix(let prefix), _):
      .run(
        "sudo Packaging/install PREFIX=\(prefix)",
        "in the sources of Tagroute; it says at its end what else is to be done")
    case (.build, _): .run("sudo Packaging/install", "in the sources of Tagroute; it says at its end what starts it")
    }
  }

  /// Adds the simulated reader to what is installed.
  var installingSimulator: Remedy {
    let archive = "or the file of that name that was made together with the one of tagroute"
    return switch (programs, packageTool) {
    case (.package, .apt?): .run("sudo apt-get install tagroute-simulator", archive)
    case (.package, .dnf?): .run("sudo dnf install tagroute-simulator", archive)
    case (.package, .zypper?): .run("sudo zypper install tagroute-simulator", archive)
    case (.package, .pacman?): .run("sudo pacman --sync tagroute-simulator", archive)
    case (.package, nil): .advise("install the package tagroute-simulator")
    case (.prefix(let prefix), _):
      .run("sudo Packaging/install PREFIX=\(prefix) COMPONENT=simulator", "in the sources of Tagroute")
    case (.build(let folder), _): .advise("build it into \(folder) too")
    }
  }

  /// Installs what Tagroute stands on.
  func installing(_ package: Package) -> Remedy {
    let name =
      switch (package, packageTool) {
      case (.polkit, .apt?): "polkitd"
      case (.polkit, _): "polkit"
      case (.notificationServer, _): "dunst"
      }
    return switch packageTool {
    case .apt?: .run("sudo apt-get install \(name)")
    case .dnf?: .run("sudo dnf install \(name)")
    case .zypper?: .run("sudo zypper install \(name)")
    case .pacman?: .run("sudo pacman --sync \(name)")
    case nil: .advise("install the package \(name), or what your distribution calls it")
    }
  }

  /// Has polkit answer, which is there and does not.
  ///
  /// - Parameter unit: its unit as systemd knows it; nil where there is no systemd.
  /// - Returns: what starts it again; systemd refuses that of one that is masked.
  func restartingPolkit(_ unit: Examination.Unit?) -> Remedy {
    guard hasSystemd else { return .advise("start polkitd again by what starts services here") }
    let restart = "sudo systemctl restart \(Self.polkitUnit)"
    guard let unit, unit.load == "masked" else { return .run(restart) }
    return .run("sudo systemctl \(unit.unmask) \(Self.polkitUnit) && \(restart)")
  }

  static let polkitUnit = "polkit.service"

  var startingSystemBus: Remedy {
    hasSystemd
      ? .run("sudo systemctl start dbus.socket", "or look at DBUS_SYSTEM_BUS_ADDRESS")
      : .advise("start dbus-daemon --system by what starts services on this system, or look at DBUS_SYSTEM_BUS_ADDRESS")
  }

  /// Has the bus read our policy, and the daemon start under it.
  func readingPolicy(_ daemon: RunningProgram) -> Remedy {
    hasSystemd
      ? .run("sudo systemctl reload dbus && \(daemon.systemctl) restart \(daemon.unit)")
      : .run(
        "sudo dbus-send --system --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig",
        "then start tagrouted again")
  }

  var stoppingPCSCD: Remedy {
    let condition = "where you do not need it"
    return hasSystemd
      ? .run(ReaderRemedy.stoppingPCSCD, condition) : .advise("end it \(condition)")
  }

  /// Starts one of our programs that does not run.
  ///
  /// - Parameters:
  ///   - service: the program.
  ///   - unit: its unit as systemd knows it; nil where there is no systemd.
  /// - Returns: what starts it, or lets it be started.
  func starting(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    switch unit?.load {
    case nil:
      switch service.owner {
      // Nobody else may have its name on the bus, and what makes the user puts the policy there too.
      case .system where !hasUser: installing
      case .system:
        .run(
          "sudo -u \(ReaderRemedy.owner) \(program(service.program))",
          "by what starts services on this system: it stays in the foreground")
      case .user: .run("\(program(service.program)) &", isInstalled ? Self.autostart : nil)
      }
    case "masked"?:
      .run(
        "\(service.systemctl) \(unit?.unmask ?? "unmask") \(service.unit) && "
          + "\(service.systemctl) enable --now \(service.unit)")
    case "not-found"?: installing
    case "loaded"?: .run("\(service.systemctl) enable --now \(service.unit)")
    default:
      .run(
        "\(service.verify) \(service.unit)",
        "says what is wrong with it, and \(service.systemctl) cat \(service.unit) where that stands")
    }
  }

  /// Starts one of our programs where nobody has asked systemd about it: installed, it has a unit wherever there is systemd.
  func starting(_ service: RunningProgram) -> Remedy {
    guard isInstalled else { return starting(service, nil) }
    return hasSystemd ? .run("\(service.systemctl) start \(service.unit)") : starting(service, nil)
  }

  /// Starts one of our programs again, where nobody has asked systemd about it.
  func restarting(_ service: RunningProgram) -> Remedy {
    guard isInstalled else { return restarting(service, nil) }
    return hasSystemd ? .run(service.restart(hasSystemd: true)) : restarting(service, nil)
  }

  /// Starts one of our programs again, which runs or has run.
  func restarting(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    guard let unit, unit.load == "loaded" else { return .advise(service.restart(hasSystemd: false)) }
    let restart = service.restart(hasSystemd: true)
    // Calls to a daemon that has given up use up its starts, and systemd then refuses this one too. The unit's Result does not tell: it
    // stays what the program ended with. The agent's unit has no such limit.
    guard service.owner == .system, unit.active == "failed" else { return .run(restart) }
    return .run("\(service.systemctl) reset-failed \(service.unit) && \(restart)")
  }

  /// Ends one of our programs that runs, where nobody has asked systemd about it.
  func stopping(_ service: RunningProgram) -> Remedy {
    hasSystemd ? .run("\(service.systemctl) stop \(service.unit)") : .advise("end \(service.program)")
  }

  /// Has one of our programs that runs read its configuration again.
  func reloading(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    guard unit?.load == "loaded", unit?.active == "active" else { return .advise("send SIGHUP to \(service.program)") }
    return .run("\(service.systemctl) reload \(service.unit)")
  }

  /// Has one of our programs look at its configuration, as whoever it runs as: root may read what the daemon may not.
  ///
  /// - Parameters:
  ///   - service: the program.
  ///   - settings: where its configuration is.
  ///   - then: what is to be done where nothing is wrong with it; nil where that is all.
  /// - Returns: what says whether something is.
  func checking(_ service: RunningProgram, _ settings: Examination.Settings, then: Remedy? = nil) -> Remedy {
    let command = "\(program(service.program)) --check\(settings.isNamed ? " --config \(settings.file)" : "")"
    let user = hasUser ? "-u \(ReaderRemedy.owner) " : ""
    return .run(
      service.owner == .system ? "sudo \(user)\(command)" : command,
      "says what is wrong with it" + (then.map { "; where nothing is, \($0.text)" } ?? ""))
  }

  /// Says why one of our programs does not go on.
  func log(of service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    unit?.load == "loaded"
      ? .run("\(service.journalctl) -u \(service.unit) -n 20", "says why")
      : .advise("what \(service.program) has written on its standard error says why")
  }
}

extension Examination.Unit {
  /// The word of systemctl(1) that ends its mask, which is either for good or until the next start of the machine.
  var unmask: String { file == "masked-runtime" ? "unmask --runtime" : "unmask" }
}

extension RunningProgram {
  enum Owner: Hashable, Sendable {
    case system
    case user
  }

  /// Who looks after it, and so whose command and whose bus it is.
  var owner: Owner { self == .daemon ? .system : .user }
  var program: String { rawValue }
  var journalctl: String { owner == .system ? "sudo journalctl" : "journalctl --user" }
  var verify: String { owner == .system ? "systemd-analyze verify" : "systemd-analyze --user verify" }
}
