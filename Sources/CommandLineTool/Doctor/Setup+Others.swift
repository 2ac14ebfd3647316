import Names

/// What mends that which is not of Tagroute's own programs: libraries, radios, a `tagroute` that was left over.
extension Setup {
  /// The packages of what `tagroute-reader` is linked with and is not Tagroute's own, by the beginning of a library's name.
  private static let libraries: [(beginning: String, packages: [PackageTool: String])] = [
    ("libnfc.so.", [.apt: "libnfc6", .dnf: "libnfc", .zypper: "libnfc6", .pacman: "libnfc"]),
    ("libseccomp.so.", [.apt: "libseccomp2", .dnf: "libseccomp", .zypper: "libseccomp2", .pacman: "libseccomp"]),
    (
      "libusb-0.1.so.",
      [.apt: "libusb-0.1-4", .dnf: "libusb-compat-0.1", .zypper: "libusb-0_1-4", .pacman: "libusb-compat"]
    ),
    ("libusb-1.0.so.", [.apt: "libusb-1.0-0", .dnf: "libusb1", .zypper: "libusb-1_0-0", .pacman: "libusb"]),
  ]

  /// Puts a library where the dynamic linker finds it, also where its package is there and the file has gone, or is broken.
  ///
  /// - Parameter library: the file's name, as the linker gives it.
  /// - Returns: nil of a library that is in no package known here.
  func installing(library: String) -> Remedy? {
    guard let found = Self.libraries.first(where: { library.hasPrefix($0.beginning) }) else { return nil }
    guard let tool = packageTool, let name = found.packages[tool] else {
      return .advise("install the package of your distribution that has \(library), again where it is there")
    }
    return switch tool {
    case .apt: .run("sudo apt-get install --reinstall \(name)")
    // It refuses to reinstall what is not there, and to install what is.
    case .dnf: .run("sudo dnf reinstall \(name) || sudo dnf install \(name)")
    case .zypper: .run("sudo zypper install --force \(name)")
    case .pacman: .run("sudo pacman --sync \(name)")
    }
  }

  /// Switches the radios on.
  var endingAirplaneMode: Remedy {
    let package = packageTool == .apt ? "rfkill" : packageTool == nil ? "rfkill or util-linux" : "util-linux"
    return .run(
      "sudo rfkill unblock all",
      "which is in the package \(package); or end it in the desktop's settings, or by the machine's own switch")
  }

  /// What has both be of one version: the older one gives way.
  ///
  /// - Parameters:
  ///   - difference: between this program and one that runs.
  ///   - restart: what starts that one again, in the version that is installed.
  /// - Returns: nil where there is no telling which of them is the older one.
  func updating(_ difference: VersionDifference, restarting restart: Remedy) -> Remedy? {
    switch difference.isPeerOlder {
    case true?: restart
    case false?: .advise("\(ownPath) is the older one: update it, or remove it where a newer tagroute is installed")
    case nil: nil
    }
  }

  /// Where this very program is.
  private var ownPath: String {
    switch programs {
    case .package: "/usr/bin/tagroute"
    case .prefix(let prefix): "\(prefix)/bin/tagroute"
    case .build(let folder): "\(folder)/tagroute"
    }
  }
}
