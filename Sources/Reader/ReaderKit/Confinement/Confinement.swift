import CShims
import Glibc
import ReaderProtocol

/// The restrictions that a reader process puts on itself before it touches a device. A tag or a reader that takes the
/// process over should gain little.
///
/// There are two steps, because libnfc reads its configuration between them. `begin()` comes first. Creating a value of
/// this type then restricts the process for good.
package struct Confinement {
  /// As text for the log.
  package let summary: String
  /// The missing restrictions, and why; nil if all are in force.
  package let gap: String?
  /// Why no device may be touched: the kernel's filter against a compromised process is not in force. Nil if one may.
  package let refusal: String?
  private let files: FileConfinement

  /// `device` is libnfc's connection string; nil if libnfc is to search for a device. The process itself uses a single
  /// thread.
  package init(device: String?, _ circumstances: ConfinementPlan.Circumstances = .own) {
    self.init(ConfinementPlan(device: device, circumstances), circumstances)
  }

  /// The process has a single thread: the threads that it starts later are restricted too.
  package init(_ plan: ConfinementPlan, _ circumstances: ConfinementPlan.Circumstances = .own) {
    // A crash should end the process by its signal, which the daemon sees. Swift's own handler would start another
    // program to print more.
    if !circumstances.isSanitized { for number in Self.crashes { signal(number, SIG_DFL) } }
    // Ask the kernel for the actual state, instead of trusting the earlier calls.
    let hasNoNewPrivileges = tagroute_has_no_new_privileges() == 1
    let isClosed = tagroute_is_dumpable() == 0
    let limits = plan.limits.compactMap(Self.apply)
    files = FileConfinement(plan.files)
    // Last, because the filter refuses calls that the other restrictions need.
    let filter = SystemCallFilter.apply(SystemCallPolicy(plan, process: getpid()))
    var gaps = [
      hasNoNewPrivileges ? nil : "the process can gain new privileges",
      isClosed ? nil : "other processes of the same user can read its memory",
    ].compactMap(\.self)
    gaps += limits
    if let obstacle = files.obstacle { gaps.append(obstacle) }
    var (isFiltered, refusal): (Bool, String?) = (false, nil)
    switch filter {
    case .inForce(let missing):
      isFiltered = true
      gaps += missing.map { "system calls: \($0)" }
    case .unknown: gaps.append("the kernel does not support system call filters (seccomp)")
    case .failed(let reason): refusal = Self.refusal(reason)
    }
    let parts = [
      hasNoNewPrivileges ? "no new privileges" : nil, isClosed ? "closed memory" : nil,
      limits.isEmpty ? "limits" : nil, isFiltered ? "system calls" : nil,
      files.version.map { "files (Landlock \($0))" },
    ]
    summary = "confined: " + parts.compactMap(\.self).joined(separator: ", ")
    gap = gaps.isEmpty ? nil : gaps.joined(separator: "; ")
    self.refusal = refusal
  }

  private static func refusal(_ reason: String) -> String {
    "the reader process cannot filter its system calls (\(reason)), so it opens no device; "
      + "allow seccomp and prctl in tagrouted's unit or container"
  }

  /// The path of a device that was plugged in again and that only another process may open; nil if there is none.
  package var newDevice: String? { files.newDevice }

  private static let crashes = [SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGQUIT]

  /// Nil, or why the limit is not in force.
  private static func apply(_ limit: ConfinementPlan.Limit) -> String? {
    let (resource, most) =
      switch limit {
      case .coreSize(let most): (RLIMIT_CORE.rawValue, most)
      case .openFiles(let most): (RLIMIT_NOFILE.rawValue, most)
      case .fileSize(let most): (RLIMIT_FSIZE.rawValue, most)
      // The Glibc module lacks these constants. They are the same on every architecture that Swift supports.
      case .processes(let most): (6, most)
      case .lockedMemory(let most): (8, most)
      case .addressSpace(let most): (RLIMIT_AS.rawValue, most)
      case .messageQueues(let most): (12, most)
      }
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    guard setrlimit(__rlimit_resource_t(resource), &limit) != 0 else { return nil }
    return "could not set resource limit \(resource): \(String(cString: strerror(errno)))"
  }

  /// The descriptor that the signal handler writes to when the process should end.
  private nonisolated(unsafe) static var signalled: Int32 = -1  // written once, before there is a handler

  /// Returns a descriptor that becomes readable once a signal has asked the process to end; -1 if no descriptor is
  /// free. Clears the environment, except for the `kept` variables.
  package static func begin(keeping kept: [String] = []) -> Int32 {
    let end = endInTime()
    // `init` asks the kernel whether these calls had an effect.
    _ = tagroute_set_no_new_privileges()
    _ = tagroute_set_not_dumpable()
    umask(0o077)
    scrubEnvironment(keeping: kept)
    return end
  }

  /// Makes sure that the process ends after a signal, and that it switches the field off first.
  ///
  /// The daemon asks the process to end over the link. The link also closes when the daemon ends. Other programs send
  /// SIGTERM, and so does the kernel when the daemon dies. The process treats a signal like a request of the daemon, at
  /// the next check of the link. The alarm ends a process that is stuck inside libnfc.
  private static func endInTime() -> Int32 {
    // First, because otherwise the pipe would become one of these descriptors.
    guardStandardDescriptors()
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) == 0 {
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    }
    signalled = ends[1]
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { _ in
        let before = errno
        _ = alarm(ReaderTiming.secondsAfterSignal)
        var byte: UInt8 = 0
        _ = write(Confinement.signalled, &byte, 1)
        errno = before
      }
    }
    _ = tagroute_set_parent_death_signal(SIGTERM)
    return ends[0]
  }

  /// Postpones the alarm that a signal has set, because the next operation may take up to `duration`. Closing the
  /// device and opening it again, so that the field is off, may in total take longer than one alarm should wait.
  /// Without a signal there is no alarm, because the daemon watches the process.
  package static func putOffAlarm(_ duration: Duration) {
    guard alarm(0) > 0 else { return }
    _ = alarm(ReaderTiming.secondsUntilAlarm(duration))
  }

  private static func scrubEnvironment(keeping kept: [String]) {
    let values = kept.map { name in getenv(name).map { String(cString: $0) } }
    clearenv()
    for (name, value) in zip(kept, values) { if let value { setenv(name, value, 1) } }
    // libnfc prints an error for each attempt to open an absent device. This process reports its errors over the link.
    setenv("LIBNFC_LOG_LEVEL", "0", 1)
  }

  /// Opens the standard descriptors that are closed. libnfc takes descriptor 0 for "none", but a port would get that
  /// number if standard input were closed.
  private static func guardStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, because those below are open.
      _ = open("/dev/null", O_RDWR)
    }
  }
}

extension ConfinementPlan.Circumstances {
  package static var own: Self {
    let outputs = [STDOUT_FILENO, STDERR_FILENO]
    return Self(
      isSanitized: tagroute_is_sanitized() != 0,
      // Detected by a libusb 1 function. If libnfc hides that one, the lack of an internal function of libusb 0.1 shows
      // it: libusb-compat, which calls libusb 1, has only the public functions.
      hasLibusb1: dlsym(nil, "libusb_init") != nil || dlsym(nil, "usb_os_find_devices") == nil,
      writesToFile: outputs.contains { descriptor in
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      })
  }
}

/// The privileges that a confined reader process keeps, by its driver. This is only a value; other types enforce it.
package struct ConfinementPlan: Equatable {
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
