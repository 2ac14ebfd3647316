/// Commands and steps that remove the cause if a reader cannot be used. The daemon names them in a reader's `StateReason`, and
/// `tagroute doctor` among its remedies.
package enum ReaderRemedy {
  /// modprobe(8). A user of the module may load it again.
  package static func unloading(_ module: String) -> String { "sudo modprobe -r \(module)" }

  /// Keeps a kernel module from being loaded automatically (modprobe.d(5)), but does not unload it. The administrator's
  /// lines in the file stay. The leading line break is for a file without one at its end.
  package static func keepingOff(_ module: String) -> String {
    "printf '\\nblacklist \(module)\\n' | sudo tee --append \(moduleFile)"
  }

  /// The administrator's modprobe.d(5) file. It replaces the installed file of the same name.
  package static let moduleFile = "/etc/modprobe.d/tagroute.conf"

  /// Why a reader of pcscd waits while it reports a card that is not there. Unlike other waits, it does not end by
  /// itself.
  package static let stuck =
    "the reader reports a card without data (ATR 3B 00); if none is there, unplug the reader and plug it in again"

  /// Stops pcscd permanently, if systemd starts it.
  package static let stoppingPCSCD = "sudo systemctl disable --now pcscd.socket pcscd.service"

  package static let installingPCSCD = "install it (on Debian and Ubuntu: sudo apt install pcscd)"

  /// Lets systemd start pcscd when a program connects to it.
  package static let startingPCSCD = "sudo systemctl enable --now pcscd.socket"

  /// Installs the driver of most readers for pcscd.
  package static let installingCCID = "install libccid (on Debian and Ubuntu: sudo apt install libccid)"

  /// The polkit(8) rule that lets the daemon's user use pcscd.
  package static let pcscRule = "/usr/share/polkit-1/rules.d/tagroute-pcscd.rules"

  /// Makes udev reload its rules and apply them to the devices that are plugged in (udevadm(8)).
  package static let applyingUdevRules =
    "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --action=change"

  /// The group of readers in the udev rules, and the user of the daemon.
  package static let owner = "tagroute"

  /// The udev(7) rules file that assigns readers to ``owner``, in one of the rules folders.
  package static let udevRules = "94-tagroute.rules"
}
