import Glibc

/// What a reader process may still do once it is confined, by the driver of libnfc that it is for: a value, which others put in force.
struct ConfinementPlan: Equatable {
  /// What a process has to do with devices of one kind.
  enum DeviceKind: CaseIterable {
    case terminal, usb, i2c, spi
  }

  /// What may be done with a file, or with whatever is below a directory.
  enum FileUse: Equatable {
    case read
    /// Only which names there are.
    case names
    /// Read and written, and asked with ioctl(2).
    case device
  }

  struct FileRule: Equatable {
    let path: String
    let use: FileUse
  }

  /// Sockets besides the link, which is open already.
  enum Socket: Equatable {
    /// The kernel's and udev's word of what is plugged in, for libusb 1 (NETLINK_KOBJECT_UEVENT).
    case deviceEvents
  }

  /// A resource and the most of it; each is what a process that is taken over could use against the machine.
  enum Limit: Equatable {
    /// Memory holds what tags hold.
    case coreSize(UInt)
    /// libnfc needs a port and a pipe, libusb one a device that it looks at.
    case openFiles(UInt)
    /// There is nothing to write a file for.
    case fileSize(UInt)
    /// Of the user's, threads among them. Root is not held to it; the system call filter is what counts.
    case processes(UInt)
    case lockedMemory(UInt)
    case messageQueues(UInt)
    /// A libnfc that is made to allocate without end ends itself, before it takes memory from the daemon, whose control group is its own too.
    case addressSpace(UInt)
  }

  /// How the process was built and started, as far as that matters.
  struct Circumstances: Equatable {
    /// A sanitizer maps terabytes of addresses and reads /proc/self.
    var isSanitized = false
    /// libusb 1, behind libusb-compat, is there: it looks into /sys and listens for devices in a thread.
    var hasLibusb1 = false
    /// Standard output or error is a file, which grows.
    var writesToFile = false
  }

  private(set) var files: [FileRule] = []
  private(set) var kinds: [DeviceKind] = []
  private(set) var sockets: [Socket] = []
  private(set) var startsThreads = false
  private(set) var limits: [Limit] = []

  /// - Parameters:
  ///   - device: libnfc's connection string; nil where it is to look for one.
  ///   - circumstances: how the process was built and started.
  init(device: String?, _ circumstances: Circumstances) {
    let parts = (device ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let path = device.flatMap(DeviceSearch.path)
    switch parts.first {
    case "pn532_uart", "arygon", "acr122s": allow(.terminal, at: path)
    case "pn532_i2c": allow(.i2c, at: path)
    case "pn532_spi": allow(.spi, at: path)
    case "pn53x_usb", "acr122_usb": allowUSB(parts.dropFirst(), circumstances)
    // They are refused (`DeviceSearch`), since whoever may speak to one local socket may speak to the system bus, as the daemon's user.
    case "pcsc", "acr122_pcsc": break
    default: allowSearch(circumstances)
    }
    if circumstances.isSanitized { files.append(FileRule(path: "/proc/self", use: .read)) }
    limits = Self.limits(circumstances, startsThreads: startsThreads)
  }

  private mutating func allow(_ kind: DeviceKind, at path: String?) {
    kinds.append(kind)
    // One that is named without its directory may be any; libnfc looks for it as if none were named.
    files.append(FileRule(path: path ?? Self.devices, use: .device))
  }

  /// `numbers` are those of bus and device, where they are named: then the node of no other can be opened, only its name read.
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
    // libudev looks through all buses and classes for those of its subsystem, and takes none if it may not. What it finds are links.
    files += ["/sys/bus", "/sys/class"].map { FileRule(path: $0, use: .names) }
    files += ["/sys/devices", "/run/udev/data"].map { FileRule(path: $0, use: .read) }
    sockets.append(.deviceEvents)
    startsThreads = true
  }

  /// Whatever libnfc finds is opened, and may have been plugged in a moment ago, as a new file: so all of /dev that the process's user may open.
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
    // An error that is written into a log would end the process.
    if !circumstances.writesToFile { limits.append(.fileSize(0)) }
    if !startsThreads { limits.append(.processes(0)) }
    if !circumstances.isSanitized { limits.append(.addressSpace(1 << 30)) }
    return limits
  }
}
