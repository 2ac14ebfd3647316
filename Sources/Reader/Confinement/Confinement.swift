import CShims
import Glibc
import ReaderLink

/// What a reader process gives up before it touches a device: a tag or a reader that takes it over should find little.
///
/// In two steps, since libnfc reads its configuration between them: `begin()` first of all, and then a value of this type, which holds the process to
/// its plan for good.
struct Confinement {
  /// What is in force, in words for the log.
  let summary: String
  /// What is not in force, and why; nil where all of it is.
  let gap: String?
  /// Why no device may be touched, since what the kernel has against a process that is taken over is not in force; nil where one may.
  let refusal: String?
  private let files: FileConfinement

  /// Holds the process, which has one thread of its own, to what a device needs.
  ///
  /// - Parameters:
  ///   - device: libnfc's connection string; nil where libnfc is to look for one.
  ///   - circumstances: how the process was built and started.
  init(device: String?, _ circumstances: ConfinementPlan.Circumstances = .own) {
    let plan = ConfinementPlan(device: device, circumstances)
    // A crash is to end it, as the signal that the daemon is told of. Swift's own handler would start a program that says more.
    if !circumstances.isSanitized { for number in Self.crashes { signal(number, SIG_DFL) } }
    // The kernel is asked, not what was done about it: that is what holds.
    let hasNoNewPrivileges = tagroute_has_no_new_privileges() == 1
    let isClosed = tagroute_is_dumpable() == 0
    let limits = plan.limits.compactMap(Self.apply)
    files = FileConfinement(plan.files)
    // Last: it refuses what the others need.
    let filter = SystemCallFilter.apply(SystemCallPolicy(plan, process: getpid()))
    var gaps = [
      hasNoNewPrivileges ? nil : "new privileges may be had",
      isClosed ? nil : "its memory may be read by whoever is the same user",
    ].compactMap(\.self)
    gaps += limits
    if let obstacle = files.obstacle { gaps.append(obstacle) }
    var (isFiltered, refusal): (Bool, String?) = (false, nil)
    switch filter {
    case .inForce(let missing):
      isFiltered = true
      gaps += missing.map { "system calls: \($0)" }
    case .unknown: gaps.append("the kernel has no filter of system calls")
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
    "the reader process cannot filter its system calls (\(reason)), without which no device is opened; "
      + "let tagrouted's unit or container call seccomp and prctl"
  }

  /// The path of a device that was plugged in anew, which only another process may open; nil where there is none.
  var newDevice: String? { files.newDevice }

  private static let crashes = [SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGQUIT]

  /// - Returns: nil, or why the limit is not in force.
  private static func apply(_ limit: ConfinementPlan.Limit) -> String? {
    let (resource, most) =
      switch limit {
      case .coreSize(let most): (RLIMIT_CORE.rawValue, most)
      case .openFiles(let most): (RLIMIT_NOFILE.rawValue, most)
      case .fileSize(let most): (RLIMIT_FSIZE.rawValue, most)
      // Constants that Glibc's module leaves out, the same on every architecture that Swift is built for.
      case .processes(let most): (6, most)
      case .lockedMemory(let most): (8, most)
      case .addressSpace(let most): (RLIMIT_AS.rawValue, most)
      case .messageQueues(let most): (12, most)
      }
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    guard setrlimit(__rlimit_resource_t(resource), &limit) != 0 else { return nil }
    return "limit \(resource): \(String(cString: strerror(errno)))"
  }

  /// Where the handler of signals writes that it is time to end.
  private nonisolated(unsafe) static var signalled: Int32 = -1  // written once, before there is a handler

  /// - Returns: a descriptor that is readable once a signal has said that it is time to end; -1 where there is none left.
  static func begin() -> Int32 {
    let end = endInTime()
    // What has come of these is asked where the rest is put in force.
    _ = tagroute_set_no_new_privileges()
    _ = tagroute_set_not_dumpable()
    umask(0o077)
    scrubEnvironment()
    return end
  }

  /// Ends no process with its field on, and every one in the end.
  ///
  /// The daemon says over the link that it is time to end, and its end is that of the link. Others say so by SIGTERM, and the kernel
  /// of the daemon's death: that counts as if the daemon had said it, at the next look at the link. The alarm is for a
  /// process that is wedged inside libnfc.
  private static func endInTime() -> Int32 {
    // First, or the pipe would be one of them.
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

  /// Puts off the alarm that a signal has set, since something is begun that may take so long: what is done to leave no field on, closing
  /// the device and opening it again, may take longer in all than any one alarm should wait. Without a signal there is none, for the daemon
  /// watches.
  static func putOffAlarm(_ duration: Duration) {
    guard alarm(0) > 0 else { return }
    _ = alarm(ReaderTiming.secondsUntilAlarm(duration))
  }

  private static func scrubEnvironment() {
    clearenv()
    // libnfc prints its errors for every try to open a device that is away; ours come over the link.
    setenv("LIBNFC_LOG_LEVEL", "0", 1)
  }

  /// libnfc takes descriptor 0 for "none": with standard input closed it would open a port as that.
  private static func guardStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, since those below are open.
      _ = open("/dev/null", O_RDWR)
    }
  }
}

extension ConfinementPlan.Circumstances {
  /// Those of this process.
  static var own: Self {
    let outputs = [STDOUT_FILENO, STDERR_FILENO]
    return Self(
      isSanitized: tagroute_is_sanitized() != 0,
      // By its own name; or, where a libnfc hides that, by a function that libusb 0.1 has for itself: what takes its place has only those that
      // programs call, and libusb 1 behind them.
      hasLibusb1: dlsym(nil, "libusb_init") != nil || dlsym(nil, "usb_os_find_devices") == nil,
      writesToFile: outputs.contains { descriptor in
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      })
  }
}
