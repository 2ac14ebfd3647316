/// The commands that take out of the way what keeps a reader from being opened: the daemon names them in a reader's `StateReason`, and
/// `tagroute doctor` among its remedies.
public enum ReaderRemedy {
  /// Unloads a kernel module (modprobe(8)); what needs it may load it again.
  public static func unloading(_ module: String) -> String { "sudo modprobe -r \(module)" }

  /// Keeps a kernel module from being loaded by itself (modprobe.d(5)); it does not unload it. What an administrator has written there
  /// stays; the first line may have no end.
  public static func keepingOff(_ module: String) -> String {
    "printf '\\nblacklist \(module)\\n' | sudo tee --append \(moduleFile)"
  }

  /// The administrator's file of modprobe.d(5) that takes the place of the one that is installed.
  public static let moduleFile = "/etc/modprobe.d/tagroute.conf"

  /// Ends pcscd for good, where systemd starts it.
  public static let stoppingPCSCD = "sudo systemctl disable --now pcscd.socket pcscd.service"

  /// Has udev read its rules anew and give what is plugged in to those whom they name (udevadm(8)).
  public static let applyingUdevRules =
    "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --action=change"

  /// The group to which the udev rules give readers, and the user that the daemon runs as.
  public static let owner = "tagroute"

  /// The file of udev(7) that gives readers to ``owner``, in one of the folders of rules.
  public static let udevRules = "94-tagroute.rules"
}
