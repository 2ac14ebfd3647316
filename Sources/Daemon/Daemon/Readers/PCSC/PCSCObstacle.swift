import Names
import ReaderModels
import ReaderProtocol

/// Why a contactless reader that is plugged in cannot be used through pcscd, and a remedy.
enum PCSCObstacle: Hashable, Sendable {
  /// `tagroute-reader-pcsc` is not installed.
  case noProgram
  /// pcscd is not installed, or its socket is disabled.
  case noService
  /// No installed driver names the device. `hasOthers`: there are drivers for other devices.
  case noDriver(hasOthers: Bool)
  /// pcscd has a driver, and does not list the device. `module` is the kernel module that has the device, if one has.
  case notListed(module: String?)
  /// pcscd gives no list.
  case problem(PCSCProblem)

  /// The obstacle and the remedy, a text that follows the reader's connection string. `title` names the model.
  func reason(for usb: Device.USB, title: String, hasSystemd: Bool) -> String {
    // A reader in a laptop cannot be plugged in again.
    let retry = "plug the reader in again" + (hasSystemd ? ", or run sudo systemctl reload tagrouted" : "")
    let rescan = "plug the reader in again" + (hasSystemd ? ", or run sudo systemctl restart pcscd" : "")
    return switch self {
    case .noProgram:
      "\(title) needs \(Names.Files.pcscReaderProgram), which is not installed: reinstall Tagroute, and restart tagrouted"
    case .noService:
      "\(title) needs pcscd: \(ReaderRemedy.installingPCSCD)"
        + (hasSystemd ? ", or \(ReaderRemedy.startingPCSCD) if it is switched off" : ", or start it")
        + "; then \(retry)"
    case .noDriver(hasOthers: false): "\(title) needs a driver for pcscd: \(ReaderRemedy.installingCCID); then \(retry)"
    case .noDriver(hasOthers: true): Self.newDriver(for: usb, title) + ", then \(retry)"
    case .notListed(let module?):
      "the kernel module \(module) has \(title): \(ReaderRemedy.unloading(module)), blacklist it in /etc/modprobe.d, "
        + "then \(rescan)"
    case .notListed(nil):
      "pcscd does not show \(title). If another program has it, such as GnuPG's scdaemon, write disable-ccid into that "
        + "user's ~/.gnupg/scdaemon.conf. Then \(rescan)"
    case .problem(let problem): Self.reason(problem, title, hasSystemd: hasSystemd)
    }
  }

  private static func newDriver(for usb: Device.USB, _ title: String) -> String {
    let name = "\(title) (\(text(usb)))"
    guard let version = ReaderModel.firstCCID(vendor: usb.vendor, product: usb.product) else {
      return "pcscd has no driver for \(name): update libccid, or install the maker's driver"
    }
    return "\(name) needs libccid \(version) or newer: update it"
  }

  private static func reason(_ problem: PCSCProblem, _ title: String, hasSystemd: Bool) -> String {
    let words = problem.text.isEmpty ? "" : " (\(problem.text))"
    return switch problem.kind {
    case .noService:
      "\(title) needs pcscd, which does not start\(words): "
        + (hasSystemd ? "systemctl status pcscd.socket pcscd shows why" : "start it")
    case .refused:
      "polkit does not let tagrouted use pcscd\(words): check that \(ReaderRemedy.pcscRule) is installed, and that no "
        + "rule before it says no"
    case .otherVersion:
      "pcscd and libpcsclite are of different versions\(words): update both, and restart pcscd"
    case .closed, .other: "pcscd does not show \(title)\(words)"
    }
  }

  /// The identity as lsusb(8) shows it.
  private static func text(_ usb: Device.USB) -> String {
    [usb.vendor, usb.product].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined(separator: ":")
  }
}
