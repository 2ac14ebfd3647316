import Names

/// Fixes of pcscd and its drivers.
extension Setup {
  static let pcscdSocket = "pcscd.socket"
  private static let pcscdService = "pcscd.service"

  /// Installs pcscd and a driver for most readers.
  package var installingPCSCD: Remedy { installing(.pcscd) }

  /// For users who want libnfc alone.
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
    case .zypper?: .run("sudo zypper update \(Package.ccid.name(.zypper))", "to \(version) or later")
    case .pacman?: .run("sudo pacman --sync \(Package.ccid.name(.pacman))", "to \(version) or later")
    case nil: .advise("update libccid to \(version) or later")
    }
  }
}
