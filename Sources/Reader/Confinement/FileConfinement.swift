import CShims
import Glibc

/// Which files the process may open, held to by Landlock.
///
/// A rule is bound to the file that a path names now. A device that is plugged in anew is a new file, which a process that
/// has confined itself may not open, and never will: `newDevice` says so, and another process takes over.
struct FileConfinement {
  /// The version of Landlock that is in force; nil where there is none.
  private(set) var version: Int32?
  /// Why it is not, or less than it should be.
  private(set) var obstacle: String?
  /// The device's files, by what they stood for when the rules were made; nil for none there.
  private var devices: [(path: String, node: Node?)] = []

  /// What tells a file from one that takes its name. Nothing is kept open for it: a port that is lent is to be nobody's.
  private struct Node: Equatable {
    let device: dev_t
    let number: ino_t
    /// The driver and its number for the device, of a device's file.
    let stands: dev_t
    /// Of a pseudo-terminal, when it was made, since it has the file number of the one that was there before. Of nothing else: the kernel
    /// sets this time of a USB device with each transfer, and udev and logind whenever they say whose a device is.
    let since: [Int]

    init(_ status: stat) {
      device = status.st_dev
      number = status.st_ino
      stands = status.st_rdev
      let isPseudoTerminal =
        status.st_mode & S_IFMT == S_IFCHR && Self.pseudoTerminals.contains(status.st_rdev >> 8 & 0xFFF)
      since = isPseudoTerminal ? [status.st_ctim.tv_sec, status.st_ctim.tv_nsec] : []
    }

    /// Their drivers' numbers (Linux, Documentation/admin-guide/devices.txt).
    private static let pseudoTerminals: ClosedRange<dev_t> = 136...143
  }

  private static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

  /// O_PATH, which Glibc's module leaves out.
  private static let pathOnly: Int32 = 0o10_000_000

  /// What is bounded, as of each version.
  private enum Rights {
    static let writeFile: UInt64 = 1 << 1
    static let readFile: UInt64 = 1 << 2
    static let readDirectory: UInt64 = 1 << 3
    static let truncate: UInt64 = 1 << 14
    static let ioctl: UInt64 = 1 << 15
    /// Those of the first version, all: executing, making and removing among them.
    static let first: UInt64 = (1 << 13) - 1
    /// Moving a file from one directory to another.
    static let refer: UInt64 = 1 << 13

    static func files(_ version: Int32) -> UInt64 {
      first | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0) | (version >= 5 ? ioctl : 0)
    }

    /// TCP: binding and connecting.
    static func network(_ version: Int32) -> UInt64 { version >= 4 ? 0b11 : 0 }
    /// Abstract sockets and signals, outside of the process.
    static func scopes(_ version: Int32) -> UInt64 { version >= 6 ? 0b11 : 0 }

    static func of(_ use: ConfinementPlan.FileUse, isDirectory: Bool) -> UInt64 {
      let rights =
        switch use {
        case .names: readDirectory
        case .read: readDirectory | readFile
        case .device: readDirectory | readFile | writeFile | ioctl
        }
      return isDirectory ? rights : rights & ~readDirectory
    }
  }

  /// Holds the process to the files of a plan for good.
  ///
  /// - Parameter rules: the files; one that is not there is left out.
  init(_ rules: [ConfinementPlan.FileRule]) {
    let version = tagroute_landlock_version()
    guard version > 0 else {
      // The kernel itself never refuses this call for want of a permission (landlock_create_ruleset(2)).
      obstacle =
        errno == EPERM
        ? "no Landlock: the container, or another filter of system calls around the daemon, refuses it"
        : "the kernel has no Landlock: \(Self.error())"
      return
    }
    let files = Rights.files(version)
    let set = tagroute_landlock_create(files, Rights.network(version), Rights.scopes(version))
    guard set >= 0 else {
      obstacle = "Landlock: \(Self.error())"
      return
    }
    defer { close(set) }
    for rule in rules {
      let node = Self.allow(rule, in: set, files) { obstacle = $0 }
      if rule.use == .device { devices.append((rule.path, node)) }
    }
    guard tagroute_landlock_restrict(set) == 0 else {
      obstacle = "Landlock: \(Self.error())"
      return
    }
    self.version = version
  }

  /// - Returns: the file that the rule is bound to; nil where there is none.
  private static func allow(
    _ rule: ConfinementPlan.FileRule, in set: Int32, _ bounded: UInt64, failed: (String) -> Void
  ) -> Node? {
    // Neither reads nor writes: a serial port that is opened for more pulls its lines.
    let file = open(rule.path, pathOnly | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    let rights = Rights.of(rule.use, isDirectory: isDirectory(status)) & bounded
    if tagroute_landlock_allow(set, file, rights) != 0 { failed("Landlock: \(rule.path): \(error())") }
    return Node(status)
  }

  /// The device that is there now, and is not the one that was there when the rules were made; nil where it is, or where none is there.
  var newDevice: String? {
    guard version != nil else { return nil }
    return devices.first { device in
      var status = stat()
      return stat(device.path, &status) == 0 && Node(status) != device.node
    }?.path
  }

  private static func error() -> String { String(cString: strerror(errno)) }
}
