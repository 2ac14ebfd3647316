package import Names

/// How Tagroute is installed and run on this system, and the commands that depend on that.
package struct Setup: Hashable, Sendable {
  /// The origin of the programs.
  enum Programs: Hashable, Sendable {
    case package
    /// `Packaging/install` with another prefix than that of packages.
    case prefix(String)
    /// Not installed: the folder of a build.
    case build(String)
  }

  /// The raw value is the command that installs packages.
  enum PackageTool: String, Hashable, Sendable {
    case apt = "sudo apt-get install"
    case dnf = "sudo dnf install"
    case pacman = "sudo pacman --sync"

    /// The command that replaces the files of installed packages.
    fileprivate var reinstall: String {
      switch self {
      case .apt: "\(rawValue) --reinstall"
      case .dnf: "sudo dnf reinstall"
      case .pacman: rawValue
      }
    }
  }

  /// Packages of other projects.
  enum Package: Hashable, Sendable {
    case polkit
    case notificationServer
    /// With a driver for most readers.
    case pcscd
    /// The driver of most USB readers.
    case ccid

    /// The names of the packages in a distribution; nil for an unknown one.
    func name(_ tool: PackageTool?) -> String {
      switch (self, tool) {
      case (.polkit, .apt?): "polkitd"
      case (.polkit, _): "polkit"
      case (.notificationServer, _): "dunst"
      // Debian's package depends on a driver.
      case (.pcscd, .apt?): "pcscd"
      case (.pcscd, .dnf?): "pcsc-lite pcsc-lite-ccid"
      case (.pcscd, .pacman?): "pcsclite ccid"
      case (.pcscd, nil): "pcsc-lite"
      case (.ccid, .apt?): "libccid"
      case (.ccid, .dnf?): "pcsc-lite-ccid"
      case (.ccid, .pacman?), (.ccid, nil): "ccid"
      }
    }
  }

  var programs = Programs.package
  /// Nil if the distribution is unknown.
  var packageTool: PackageTool?
  /// Whether systemd is the system's manager (sd_booted(3)).
  var hasSystemd = true
  /// Whether the daemon's user exists.
  var hasUser = true
  /// The name of the distribution; empty if unknown.
  var system = ""

  /// `folder` is the folder of this program; `hasDaemon`: the daemon is in the libexec of the same prefix. `release`
  /// are the contents of os-release(5).
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
    "debian": .apt, "ubuntu": .apt, "fedora": .dnf, "rhel": .dnf, "arch": .pacman,
  ]

  private static let autostart = "it starts with the next session if the desktop uses /etc/xdg/autostart"

  private var isInstalled: Bool { if case .build = programs { false } else { true } }

  /// The path of a program in libexec.
  func program(_ name: String) -> String {
    switch programs {
    case .package: "/usr/libexec/\(name)"
    case .prefix(let prefix): "\(prefix)/libexec/\(name)"
    case .build(let folder): "\(folder)/\(name)"
    }
  }

  /// Installs Tagroute's files again.
  var installing: Remedy {
    let archive = "or reinstall the package file that it came from"
    return switch (programs, packageTool) {
    case (.package, let tool?): .run("\(tool.reinstall) tagroute", archive)
    case (.package, nil): .advise("reinstall the package tagroute")
    // Packaging/install supports only these two prefixes.
    case (.prefix(let prefix), _) where !["/usr", "/usr/local"].contains(prefix):
      .advise("reinstall Tagroute below \(prefix), the way it was installed")
    case (.prefix(let prefix), _):
      .run(
        "sudo Packaging/install PREFIX=\(prefix)",
        "in the source tree of Tagroute; it prints the remaining steps")
    case (.build, _): .run("sudo Packaging/install", "in the source tree of Tagroute; it prints how to start it")
    }
  }

  package var installingSimulator: Remedy {
    // No archive of a distribution has it.
    switch (programs, packageTool) {
    case (.package, .apt?):
      .run(
        "sudo apt-get install ./tagroute-simulator_*.deb",
        "in the folder with tagroute's package file, for example .build/packages after Packaging/build-deb")
    case (.package, _): .advise("install the package file of tagroute-simulator from the same build as tagroute's")
    case (.prefix(let prefix), _):
      .run("sudo Packaging/install PREFIX=\(prefix) COMPONENT=simulator", "in the source tree of Tagroute")
    case (.build(let folder), _): .advise("build it into \(folder)")
    }
  }

  func installing(_ package: Package) -> Remedy {
    let name = package.name(packageTool)
    guard let packageTool else {
      return .advise("install the package \(name), or its equivalent in your distribution")
    }
    return .run("\(packageTool.rawValue) \(name)")
  }

  /// Restarts polkit. A masked unit must be unmasked first. The unit is nil without systemd.
  func restartingPolkit(_ unit: Examination.Unit?) -> Remedy {
    guard hasSystemd else { return .advise("restart polkitd with your service manager") }
    let restart = "sudo systemctl restart \(Self.polkitUnit)"
    guard let unit, unit.load == "masked" else { return .run(restart) }
    return .run("sudo systemctl \(unit.unmask) \(Self.polkitUnit) && \(restart)")
  }

  static let polkitUnit = "polkit.service"

  var startingSystemBus: Remedy {
    hasSystemd
      ? .run("sudo systemctl start dbus.socket", "or check DBUS_SYSTEM_BUS_ADDRESS")
      : .advise("start dbus-daemon --system with your service manager, or check DBUS_SYSTEM_BUS_ADDRESS")
  }

  /// Makes the bus read the policy, and restarts the daemon.
  func readingPolicy(_ daemon: RunningProgram) -> Remedy {
    hasSystemd
      ? .run("sudo systemctl reload dbus && \(daemon.systemctl) restart \(daemon.unit)")
      : .run(
        "sudo dbus-send --system --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig",
        "then restart tagrouted")
  }

  /// Starts a program; the remedy may fix its unit first. The unit is nil without systemd.
  func starting(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    switch unit?.load {
    case nil:
      switch service.owner {
      // Only this user may own the bus name. Installing creates the user and the policy.
      case .system where !hasUser: installing
      case .system:
        .run(
          "sudo -u \(ReaderRemedy.owner) \(program(service.program))",
          "from your service manager: it stays in the foreground")
      case .user:
        .run("\(program(service.program)) &", isInstalled && service == .agent ? Self.autostart : nil)
      }
    case "masked"?:
      .run(
        "\(service.systemctl) \(unit?.unmask ?? "unmask") \(service.unit) && "
          + "\(service.systemctl) enable --now \(service.unit)")
    case "not-found"?: installing
    case "loaded"?: .run("\(afterFailure(service, unit))\(service.systemctl) enable --now \(service.unit)")
    default:
      .run(
        "\(service.verify) \(service.unit)",
        "shows the error, and \(service.systemctl) cat \(service.unit) the file")
    }
  }

  /// Starts a program with an unknown unit. An installed program has a unit if there is systemd.
  package func starting(_ service: RunningProgram) -> Remedy {
    guard isInstalled else { return starting(service, nil) }
    return hasSystemd ? .run("\(service.systemctl) start \(service.unit)") : starting(service, nil)
  }

  package func restarting(_ service: RunningProgram) -> Remedy {
    guard isInstalled else { return restarting(service, nil) }
    return hasSystemd ? .run(service.restart(hasSystemd: true)) : restarting(service, nil)
  }

  func restarting(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    guard let unit, unit.load == "loaded" else { return .advise(service.restart(hasSystemd: false)) }
    let restart = service.restart(hasSystemd: true)
    return .run(afterFailure(service, unit) + restart)
  }

  /// The beginning of a command for a unit that has failed: it may have used up its start limit, and systemd then refuses
  /// every start. For the daemon, bus activation does that. The unit's Result does not show it. The agent's unit has no
  /// such limit.
  private func afterFailure(_ service: RunningProgram, _ unit: Examination.Unit?) -> String {
    unit?.active == "failed" && service != .agent ? "\(service.systemctl) reset-failed \(service.unit) && " : ""
  }

  package func stopping(_ service: RunningProgram) -> Remedy {
    hasSystemd ? .run("\(service.systemctl) stop \(service.unit)") : .advise("stop \(service.program)")
  }

  func reloading(_ service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    guard unit?.load == "loaded", unit?.active == "active" else { return .advise("send SIGHUP to \(service.program)") }
    return .run("\(service.systemctl) reload \(service.unit)")
  }

  /// Makes a program check its configuration, as its own user: root may read files that the daemon may not. `then` is
  /// the next step if there is no error.
  func checking(_ service: RunningProgram, _ settings: Examination.Settings, then: Remedy? = nil) -> Remedy {
    let command = "\(program(service.program)) --check\(settings.isNamed ? " --config \(settings.file)" : "")"
    let user = hasUser ? "-u \(ReaderRemedy.owner) " : ""
    return .run(
      service.owner == .system ? "sudo \(user)\(command)" : command,
      "shows its errors" + (then.map { "; if there are none, \($0.text)" } ?? ""))
  }

  func log(of service: RunningProgram, _ unit: Examination.Unit?) -> Remedy {
    unit?.load == "loaded"
      ? .run("\(service.journalctl) -u \(service.unit) -n 20", "shows why")
      : .advise("\(service.program) printed the reason on its standard error")
  }
}

extension Examination.Unit {
  /// The systemctl(1) command that removes its mask, which is permanent or lasts until a reboot.
  var unmask: String { file == "masked-runtime" ? "unmask --runtime" : "unmask" }
}

extension RunningProgram {
  package enum Owner: Hashable, Sendable {
    case system
    case user
  }

  /// Determines its bus, and which user may control it.
  package var owner: Owner { self == .daemon ? .system : .user }
  package var program: String { rawValue }
  var journalctl: String { owner == .system ? "sudo journalctl" : "journalctl --user" }
  var verify: String { owner == .system ? "systemd-analyze verify" : "systemd-analyze --user verify" }
}

/// Fixes outside Tagroute's own programs: libraries, radios, and another copy of `tagroute`.
extension Setup {
  /// The packages of the libraries of the programs that use readers, by the beginning of the library's name.
  private static let libraries: [(beginning: String, packages: [PackageTool: String])] = [
    ("libnfc.so.", [.apt: "libnfc6", .dnf: "libnfc", .pacman: "libnfc"]),
    ("libpcsclite.so.", [.apt: "libpcsclite1", .dnf: "pcsc-lite-libs", .pacman: "pcsclite"]),
    ("libseccomp.so.", [.apt: "libseccomp2", .dnf: "libseccomp", .pacman: "libseccomp"]),
    ("libusb-0.1.so.", [.apt: "libusb-0.1-4", .dnf: "libusb-compat-0.1", .pacman: "libusb-compat"]),
    ("libusb-1.0.so.", [.apt: "libusb-1.0-0", .dnf: "libusb1", .pacman: "libusb"]),
  ]

  /// Installs a library, also if its package is installed but the file is missing or broken. `library` is the file's
  /// name in the linker's error. Nil if the package is unknown.
  func installing(library: String) -> Remedy? {
    guard let found = Self.libraries.first(where: { library.hasPrefix($0.beginning) }) else { return nil }
    guard let tool = packageTool, let name = found.packages[tool] else {
      return .advise("install or reinstall the package of your distribution that contains \(library)")
    }
    // dnf can reinstall only installed packages, and install only others.
    return .run("\(tool.reinstall) \(name)" + (tool == .dnf ? " || \(tool.rawValue) \(name)" : ""))
  }

  var endingAirplaneMode: Remedy {
    let package = packageTool == .apt ? "rfkill" : packageTool == nil ? "rfkill or util-linux" : "util-linux"
    return .run(
      "sudo rfkill unblock all",
      "from the package \(package); or turn it off in the desktop's settings or with the hardware switch")
  }

  /// Updates the older one of this program and one that runs; nil if it is unknown which one is older. `restart`
  /// restarts the other program in the installed version.
  package func updating(_ difference: VersionDifference, restarting restart: Remedy) -> Remedy? {
    switch difference.isPeerOlder {
    case true?: restart
    case false?: .advise("\(ownPath) is older: update it, or remove it if a newer tagroute is installed")
    case nil: nil
    }
  }

  private var ownPath: String {
    switch programs {
    case .package: "/usr/bin/tagroute"
    case .prefix(let prefix): "\(prefix)/bin/tagroute"
    case .build(let folder): "\(folder)/tagroute"
    }
  }
}

/// Fixes of pcscd and its drivers.
extension Setup {
  static let pcscdSocket = "pcscd.socket"
  private static let pcscdService = "pcscd.service"

  /// Installs pcscd and a driver for most readers.
  package var installingPCSCD: Remedy { installing(.pcscd) }

  /// For users of libnfc alone.
  var stoppingPCSCD: Remedy {
    let condition = "if you do not need it; or write Backend=auto below [Reader], which uses it"
    return hasSystemd
      ? .run(ReaderRemedy.stoppingPCSCD, condition) : .advise("stop it \(condition)")
  }

  /// Starts pcscd on demand. The unit is nil without systemd.
  func startingPCSCD(_ unit: Examination.Unit?) -> Remedy {
    guard hasSystemd else { return .advise("start pcscd with your service manager") }
    guard let unit, unit.load == "masked" else { return .run(ReaderRemedy.startingPCSCD) }
    return .run(
      "sudo systemctl \(unit.unmask) \(Self.pcscdSocket) \(Self.pcscdService) && \(ReaderRemedy.startingPCSCD)")
  }

  func restartingPCSCD(_ then: String) -> Remedy {
    guard hasSystemd else { return .advise("restart pcscd with your service manager; \(then)") }
    return .run(
      "sudo systemctl restart \(Self.pcscdService)", "\(then); sudo journalctl -u \(Self.pcscdService) shows more")
  }

  /// Updates libccid to a version that this distribution may not have.
  func updatingCCID(to version: String) -> Remedy {
    switch packageTool {
    case .apt?:
      .advise("update libccid to \(version) or later, which Debian has from 13 on, or install a later acsccid from ACS")
    case .dnf?: .run("sudo dnf upgrade \(Package.ccid.name(.dnf))", "to \(version) or later")
    case .pacman?: .run("sudo pacman --sync \(Package.ccid.name(.pacman))", "to \(version) or later")
    case nil: .advise("update libccid to \(version) or later")
    }
  }
}
