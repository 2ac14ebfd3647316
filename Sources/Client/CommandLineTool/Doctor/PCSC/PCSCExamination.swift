import ReaderModels
extension Examination {
  /// What the system says about pcscd and the contactless readers that need it.
  struct PCSC: Sendable, Hashable {
    /// Tagroute's rules for polkit, without which a service may not use pcscd.
    enum RulesFile: Sendable, Hashable {
      case isThere
      case isMissing
      /// Only polkit may look into the folder of the rules, as on Debian 12.
      case isHidden
    }

    /// Whether the program or its unit is there.
    var isInstalled = false
    /// Whether pcscd runs, or starts on demand.
    var hasSocket = false
    /// `pcscd.socket`, which starts pcscd on demand.
    var socket: Unit?
    /// The user and groups of a running pcscd; nil if it does not run, or hides its process.
    var credentials: Credentials?
    var drivers: [ReaderDriver] = []
    /// Contactless USB readers that are plugged in.
    var readers: [PluggedInReader] = []
    /// Whether pcscd asks polkit who may use a card: polkit knows its actions.
    var asksPolkit = false
    var rulesFile = RulesFile.isHidden
    /// Whether /proc shows a process only to its own user (`hidepid`, proc(5)).
    var hidesProcesses = false
  }

  /// A contactless USB reader that is plugged in.
  struct PluggedInReader: Sendable, Hashable {
    var vendor: UInt16
    var product: UInt16
    /// The model for a person.
    var title: String
    /// The numbers of the bus and of the device on it: `001:004`.
    var place = ""
    var node = Node(path: "", isUSB: true)
    /// The kernel drivers of its interfaces. `usbfs` means that a program has claimed an interface.
    var interfaceDrivers: Set<String> = []
    /// A program of this user that has opened the device file, such as `scdaemon`; nil if none is visible.
    var holder: Holder?

    /// As lsusb(8) shows it.
    var id: String { "\(hexadecimal(vendor)):\(hexadecimal(product))" }

    private func hexadecimal(_ number: UInt16) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  /// A process that has opened a device.
  struct Holder: Sendable, Hashable {
    /// `comm` (proc(5)).
    var program: String
    var process: Int
  }
}
