package import Names

/// Fixes outside Tagroute's own programs: libraries, radios, and another copy of `tagroute`.
extension Setup {
  /// The packages of the libraries of the programs that use readers, by the beginning of the library's name.
  private static let libraries: [(beginning: String, packages: [PackageTool: String])] = [
    ("libnfc.so.", [.apt: "libnfc6", .dnf: "libnfc", .zypper: "libnfc6", .pacman: "libnfc"]),
    (
      "libpcsclite.so.",
      [.apt: "libpcsclite1", .dnf: "pcsc-lite-libs", .zypper: "libpcsclite1", .pacman: "pcsclite"]
    ),
    ("libseccomp.so.", [.apt: "libseccomp2", .dnf: "libseccomp", .zypper: "libseccomp2", .pacman: "libseccomp"]),
    (
      "libusb-0.1.so.",
      [.apt: "libusb-0.1-4", .dnf: "libusb-compat-0.1", .zypper: "libusb-0_1-4", .pacman: "libusb-compat"]
    ),
    ("libusb-1.0.so.", [.apt: "libusb-1.0-0", .dnf: "libusb1", .zypper: "libusb-1_0-0", .pacman: "libusb"]),
  ]

  /// Installs a library, also if its package is installed but the file is missing or broken. `library` is the file's
  /// name in the linker's error. Nil if the package is unknown.
  func installing(library: String) -> Remedy? {
    guard let found = Self.libraries.first(where: { library.hasPrefix($0.beginning) }) else { return nil }
    guard let tool = packageTool, let name = found.packages[tool] else {
      return .advise("install or reinstall the package of your distribution that contains \(library)")
    }
    return switch tool {
    case .apt: .run("sudo apt-get install --reinstall \(name)")
    // dnf can reinstall only installed packages, and install only others.
    case .dnf: .run("sudo dnf reinstall \(name) || sudo dnf install \(name)")
    case .zypper: .run("sudo zypper install --force \(name)")
    case .pacman: .run("sudo pacman --sync \(name)")
    }
  }

  /// Turns the radios on.
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

  /// The path of this program.
  private var ownPath: String {
    switch programs {
    case .package: "/usr/bin/tagroute"
    case .prefix(let prefix): "\(prefix)/bin/tagroute"
    case .build(let folder): "\(folder)/tagroute"
    }
  }
}
