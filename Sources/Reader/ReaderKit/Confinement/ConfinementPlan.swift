import Glibc

/// The privileges that a confined reader process keeps, by its driver. This is only a value; other types enforce it.
package struct ConfinementPlan: Equatable {
  /// The kinds of devices that a process may use.
  package enum DeviceKind: CaseIterable {
    case terminal, usb, i2c, spi
  }

  /// The permitted use of a file, or of everything below a directory.
  package enum FileUse: Equatable {
    case read
    /// List names only.
    case names
    /// Read, write and ioctl(2).
    case device
  }

  package struct FileRule: Equatable {
    package let path: String
    package let use: FileUse
  }

  /// The limit of a resource that a compromised process could use against the machine.
  package enum Limit: Equatable {
    /// A core dump would contain the data of tags.
    case coreSize(UInt)
    /// libnfc needs a port and a pipe. libusb needs one descriptor for a device that it looks at.
    case openFiles(UInt)
    /// The process has no file to write.
    case fileSize(UInt)
    /// All processes and threads of the user. The limit does not apply to root; the system call filter does.
    case processes(UInt)
    case lockedMemory(UInt)
    case messageQueues(UInt)
    /// A libnfc that is made to allocate without end ends its own process, before it takes memory from the daemon in
    /// the same control group.
    case addressSpace(UInt)
  }

  /// How the process was built and started, as far as that matters.
  package struct Circumstances: Equatable {
    /// A sanitizer maps terabytes of addresses and reads /proc/self.
    package var isSanitized = false
    /// libusb 1 is present, behind libusb-compat. It looks into /sys and listens for devices in a thread.
    package var hasLibusb1 = false
    /// Standard output or error is a file, which grows.
    package var writesToFile = false
  }

  package private(set) var files: [FileRule] = []
  package private(set) var kinds: [DeviceKind] = []
  /// Whether libusb 1 may start a thread, and receive the messages of the kernel and of udev about plugged devices
  /// (NETLINK_KOBJECT_UEVENT). Their socket is the only one in addition to the link, which is already open.
  package private(set) var usesLibusb1 = false
  /// Whether the process may start threads.
  package private(set) var startsThreads = false
  /// Whether the process may connect to local sockets, and wait for one to appear. Such a process can also reach the
  /// system bus, as the daemon's user.
  package private(set) var connectsLocally = false
  package private(set) var limits: [Limit] = []

  /// `device` is libnfc's connection string; nil if libnfc is to search for a device.
  package init(device: String?, _ circumstances: Circumstances) {
    let parts = (device ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let path = device.flatMap(ConnectionString.path)
    switch parts.first {
    case "pn532_uart", "arygon", "acr122s": allow(.terminal, at: path)
    case "pn532_i2c": allow(.i2c, at: path)
    case "pn532_spi": allow(.spi, at: path)
    case "pn53x_usb", "acr122_usb": allowUSB(parts.dropFirst(), circumstances)
    // `DeviceSearch` refuses these drivers of libnfc. The other reader program uses pcscd itself.
    case "pcsc", "acr122_pcsc": break
    default: allowSearch(circumstances)
    }
    if circumstances.isSanitized { files.append(FileRule(path: "/proc/self", use: .read)) }
    startsThreads = usesLibusb1
    limits = Self.limits(circumstances, startsThreads: startsThreads)
  }

  /// The ways in which a process uses pcscd.
  package enum PCSCDUse: CaseIterable {
    /// It uses cards, over connections to pcscd that exist already. It needs no other socket and no file.
    case cards
    /// It only lists readers, also after pcscd was restarted.
    case list
  }

  /// The plan of a process that reaches its reader through pcscd. All of its calls block, so it has threads for them.
  package init(_ use: PCSCDUse, _ circumstances: Circumstances) {
    startsThreads = true
    connectsLocally = use == .list
    if circumstances.isSanitized { files.append(FileRule(path: "/proc/self", use: .read)) }
    limits = Self.limits(circumstances, startsThreads: true)
  }

  private mutating func allow(_ kind: DeviceKind, at path: String?) {
    kinds.append(kind)
    // A name without a directory may match any file. libnfc then searches as if no device were named.
    files.append(FileRule(path: path ?? Self.devices, use: .device))
  }

  /// If `numbers` name a bus and a device, only that node can be opened. The names of the others can be read.
  private mutating func allowUSB(_ numbers: ArraySlice<String>, _ circumstances: Circumstances) {
    kinds.append(.usb)
    let isNode =
      numbers.count == 2
      && numbers.allSatisfy { $0.utf8.count == 3 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    if isNode {
      files.append(FileRule(path: ([Self.usb] + numbers).joined(separator: "/"), use: .device))
      files.append(FileRule(path: Self.usb, use: .names))
    } else {
      files.append(FileRule(path: Self.usb, use: .device))
    }
    guard circumstances.hasLibusb1 else { return }
    // libudev looks through all buses and classes for those of its subsystem, and finds none if it may not. The entries
    // are links.
    files += ["/sys/bus", "/sys/class"].map { FileRule(path: $0, use: .names) }
    files += ["/sys/devices", "/run/udev/data"].map { FileRule(path: $0, use: .read) }
    usesLibusb1 = true
  }

  /// Allows all of /dev that the process's user may open. Any device that libnfc finds is opened. It may have been
  /// plugged in a moment ago, as a new file.
  private mutating func allowSearch(_ circumstances: Circumstances) {
    allowUSB([], circumstances)
    kinds = DeviceKind.allCases
    files.removeAll { $0.path == Self.usb }
    files.insert(FileRule(path: Self.devices, use: .device), at: 0)
  }

  private static let devices = "/dev"
  private static let usb = "/dev/bus/usb"

  private static func limits(_ circumstances: Circumstances, startsThreads: Bool) -> [Limit] {
    var limits: [Limit] = [.coreSize(0), .openFiles(64), .lockedMemory(0), .messageQueues(0)]
    // Otherwise an error that is written into a log file would end the process.
    if !circumstances.writesToFile { limits.append(.fileSize(0)) }
    if !startsThreads { limits.append(.processes(0)) }
    if !circumstances.isSanitized { limits.append(.addressSpace(1 << 30)) }
    return limits
  }
}
