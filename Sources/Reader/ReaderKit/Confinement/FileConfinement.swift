import CShims
import Glibc

/// Restricts the files that the process may open, by Landlock.
///
/// A rule applies to the file that has the path when the rule is made. A device that is plugged in again is a new file,
/// which a confined process can never open. `newDevice` then returns the path, and another process takes over.
struct FileConfinement {
  /// Nil if Landlock is not in force.
  private(set) var version: Int32?
  /// Nil if Landlock is fully in force.
  private(set) var obstacle: String?
  /// The device files, as they were when the rules were made. The node is nil if there was no file.
  private var devices: [(path: String, node: Node?)] = []

  /// Tells a file from a later file with the same name. It keeps no descriptor open, because a lent port must not be in
  /// use here.
  private struct Node: Equatable {
    let device: dev_t
    let number: ino_t
    /// For a device file, the numbers of the driver and the device.
    let stands: dev_t
    /// For a pseudo-terminal, its creation time, because it reuses the file number of an earlier one. Empty for any
    /// other file. The kernel changes this time of a USB device at each transfer, and udev and logind change it when
    /// they set the owner.
    let since: [Int]

    init(_ status: stat) {
      device = status.st_dev
      number = status.st_ino
      stands = status.st_rdev
      let isPseudoTerminal =
        status.st_mode & S_IFMT == S_IFCHR && Self.pseudoTerminals.contains(status.st_rdev >> 8 & 0xFFF)
      since = isPseudoTerminal ? [status.st_ctim.tv_sec, status.st_ctim.tv_nsec] : []
    }

    /// The driver numbers of pseudo-terminals (Linux, Documentation/admin-guide/devices.txt).
    private static let pseudoTerminals: ClosedRange<dev_t> = 136...143
  }

  private static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

  /// O_PATH, which the Glibc module lacks.
  private static let pathOnly: Int32 = 0o10_000_000

  /// The rights that each version controls.
  private enum Rights {
    static let writeFile: UInt64 = 1 << 1
    static let readFile: UInt64 = 1 << 2
    static let readDirectory: UInt64 = 1 << 3
    static let truncate: UInt64 = 1 << 14
    static let ioctl: UInt64 = 1 << 15
    /// All rights of the first version, including executing, creating and removing.
    static let first: UInt64 = (1 << 13) - 1
    /// Moving a file from one directory to another.
    static let refer: UInt64 = 1 << 13

    static func files(_ version: Int32) -> UInt64 {
      first | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0) | (version >= 5 ? ioctl : 0)
    }

    /// TCP: binding and connecting.
    static func network(_ version: Int32) -> UInt64 { version >= 4 ? 0b11 : 0 }
    /// Abstract sockets and signals outside the process.
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

  /// For good. A missing file is left out.
  init(_ rules: [ConfinementPlan.FileRule]) {
    let version = tagroute_landlock_version()
    guard version > 0 else {
      // The kernel itself never returns EPERM for this call (landlock_create_ruleset(2)).
      obstacle =
        errno == EPERM
        ? "no Landlock: the container or an outer system call filter blocks it"
        : "the kernel does not support Landlock: \(Self.error())"
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

  /// The file that the rule applies to; nil if there is none.
  private static func allow(
    _ rule: ConfinementPlan.FileRule, in set: Int32, _ bounded: UInt64, failed: (String) -> Void
  ) -> Node? {
    // Opened for neither reading nor writing: otherwise, opening a serial port changes its lines.
    let file = open(rule.path, pathOnly | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    let rights = Rights.of(rule.use, isDirectory: isDirectory(status)) & bounded
    if tagroute_landlock_allow(set, file, rights) != 0 { failed("Landlock: \(rule.path): \(error())") }
    return Node(status)
  }

  /// The path of a device that was replaced since the rules were made; nil if there is none.
  var newDevice: String? {
    guard version != nil else { return nil }
    return devices.first { device in
      var status = stat()
      return stat(device.path, &status) == 0 && Node(status) != device.node
    }?.path
  }

  private static func error() -> String { String(cString: strerror(errno)) }
}
