import CSeccomp
import CShims
import Glibc

/// The verdict for each system call, by a plan.
///
/// - Allowed: calls that the process needs, with the arguments that it needs.
/// - Fatal: calls that no library makes by itself, and that an attacker would try first. The process ends at once, so
///   that the attacker cannot try again.
/// - ENOSYS: all other calls. Another libc, or a newer one, may try calls that this list does not contain. It falls
///   back to older calls on ENOSYS, but treats EPERM as final.
struct SystemCallPolicy: Equatable {
  enum Verdict: Equatable {
    case allow
    /// EPERM, for a call that is allowed with other arguments.
    case refuse
    case kill
  }

  enum Condition: Equatable {
    case equal(argument: UInt32, UInt64)
    case notEqual(argument: UInt32, UInt64)
    /// The bits of a mask have this value.
    case masked(argument: UInt32, mask: UInt64, UInt64)
  }

  struct Rule: Equatable {
    let verdict: Verdict
    /// The name in the kernel's tables. A call that this architecture does not have is left out.
    let call: String
    /// All of them have to be true.
    let conditions: [Condition]

    init(_ verdict: Verdict, _ call: String, _ conditions: Condition...) {
      self.verdict = verdict
      self.call = call
      self.conditions = conditions
    }
  }

  let rules: [Rule]

  /// `process` is its ID. It may send signals only to itself, as abort(3) does.
  init(_ plan: ConfinementPlan, process: Int32) {
    var needed = Self.needed
    if plan.startsThreads { needed += Self.neededForThreads }
    if plan.usesLibusb1 { needed += Self.neededForLibusb1 }
    if plan.connectsLocally { needed += Self.neededForLocalSockets }
    var rules = needed.map { Rule(.allow, $0) }
    rules += Self.bounded(process)
    rules += Set(plan.kinds.flatMap(Self.requests) + Self.terminalQuery).sorted().map { request in
      Rule(.allow, "ioctl", Self.isRequest(request))
    }
    if plan.kinds.contains(.i2c) {
      // The kernel uses all 64 bits of the address.
      rules.append(
        Rule(.allow, "ioctl", Self.isRequest(tagroute_i2c_address_request()), .equal(argument: 2, Self.pn532Address)))
    }
    if plan.usesLibusb1 {
      rules.append(
        Rule(.allow, "socket", .equal(argument: 0, UInt64(AF_NETLINK)), .equal(argument: 2, Self.deviceEvents)))
    }
    if plan.connectsLocally {
      rules.append(Rule(.allow, "socket", .equal(argument: 0, UInt64(AF_UNIX)), .equal(argument: 2, 0)))
    }
    if plan.startsThreads {
      rules.append(Rule(.allow, "clone", .masked(argument: 0, mask: Self.thread, Self.thread)))
    }
    var fatal = Self.fatal
    if !plan.usesLibusb1 { fatal += plan.connectsLocally ? ["bind"] : ["socket", "connect", "bind"] }
    self.init(rules: rules + fatal.map { Rule(.kill, $0) })
  }

  init(rules: [Rule]) { self.rules = rules }

  /// CLONE_THREAD, which the Glibc module lacks.
  private static let thread: UInt64 = 0x0001_0000
  /// NETLINK_KOBJECT_UEVENT, which the Glibc module lacks.
  private static let deviceEvents: UInt64 = 15
  /// isatty(3) of standard output.
  private static let terminalQuery = [UInt32(TCGETS)]

  /// The seven-bit address of the PN532, the only chip that libnfc speaks to on I2C (NXP UM0701-02, PN532 User Manual,
  /// section 6.2.4: 48h with the direction bit). Other chips on the bus may be memories or set voltages. A reader
  /// process must not reach them.
  private static let pn532Address: UInt64 = 0x24

  /// The kernel uses 32 bits, and libraries sign-extend some requests to 64.
  private static func isRequest(_ request: UInt32) -> Condition {
    .masked(argument: 1, mask: 0xFFFF_FFFF, UInt64(request))
  }

  /// Allowed with any argument.
  private static func requests(of kind: ConfinementPlan.DeviceKind) -> [UInt32] {
    let store: (UnsafeMutablePointer<UInt32>?, Int32) -> Int32
    switch kind {
    case .terminal: store = tagroute_terminal_requests
    case .usb: store = tagroute_usb_requests
    case .i2c: return []
    case .spi: store = tagroute_spi_requests
    }
    return Array(unsafeUninitializedCapacity: 32) { buffer, count in
      count = min(Int(store(buffer.baseAddress, Int32(buffer.count))), buffer.count)
    }
  }

  private static func bounded(_ process: Int32) -> [Rule] {
    let own = UInt64(UInt32(bitPattern: process))
    // Truncating a file loses its content as much as removing it, and the limit of file sizes does not prevent it.
    let changing = UInt64(UInt32(bitPattern: O_CREAT | O_TRUNC)) | 0o20_000_000  // __O_TMPFILE
    var rules: [Rule] = []
    for (call, flags) in [("open", UInt32(1)), ("openat", 2)] {
      rules.append(Rule(.allow, call, .masked(argument: flags, mask: changing, 0)))
    }
    rules += ["fcntl", "fcntl64"].flatMap(Self.descriptorRules)
    rules += memoryRules
    // The process may read its limits.
    rules.append(Rule(.allow, "prlimit64", .equal(argument: 2, 0)))
    rules.append(Rule(.refuse, "prlimit64", .notEqual(argument: 2, 0)))
    rules.append(Rule(.allow, "tgkill", .equal(argument: 0, own)))
    rules.append(Rule(.kill, "tgkill", .notEqual(argument: 0, own)))
    // Only a thread may be created, no process. clone3 fails with ENOSYS, because no filter can see its flags; libc
    // then calls clone.
    rules.append(Rule(.kill, "clone", .masked(argument: 0, mask: Self.thread, 0)))
    return rules
  }

  /// The rules for memory. Executable memory is refused, and so are shared mappings of files: writes to them would
  /// bypass the limit of file sizes. A refusal does not end the process, because libraries load others when they need
  /// them, and work without them if they cannot.
  private static var memoryRules: [Rule] {
    let executable = UInt64(UInt32(bitPattern: PROT_EXEC))
    // MAP_SHARED_VALIDATE has this bit, too. A mapping for reading is also refused, because it could be made writable
    // later.
    let shared = UInt64(UInt32(bitPattern: MAP_SHARED))
    return ["mmap", "mmap2"].flatMap { call in
      [
        Rule(.allow, call, .masked(argument: 2, mask: executable, 0), .masked(argument: 3, mask: shared, 0)),
        Rule(.refuse, call, .masked(argument: 2, mask: executable, executable)),
        Rule(
          .refuse, call, .masked(argument: 2, mask: executable, 0), .masked(argument: 3, mask: shared, shared)),
      ]
    }
      + ["mprotect", "pkey_mprotect"].flatMap { call in
        [
          Rule(.allow, call, .masked(argument: 2, mask: executable, 0)),
          Rule(.refuse, call, .masked(argument: 2, mask: executable, executable)),
        ]
      }
  }

  /// The rules for fcntl(2). Without them, the process could make the kernel send any signal to another process of the
  /// same user, such as the daemon, when a descriptor becomes readable.
  private static func descriptorRules(_ call: String) -> [Rule] {
    func command(_ number: Int32) -> Condition { .masked(argument: 1, mask: 0xFFFF_FFFF, UInt64(number)) }
    let asynchronous = UInt64(UInt32(bitPattern: O_ASYNC))
    // The Glibc module lacks these constants. They are the same on every architecture that Swift supports.
    let (setSignal, setOwnerThread, lease, notify): (Int32, Int32, Int32, Int32) = (10, 15, 1024, 1026)
    return [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC].map { Rule(.allow, call, command($0)) }
      + [F_SETOWN, setSignal, setOwnerThread, lease, notify].map { Rule(.kill, call, command($0)) }
      + [
        Rule(.allow, call, command(F_SETFL), .masked(argument: 2, mask: asynchronous, 0)),
        Rule(.kill, call, command(F_SETFL), .masked(argument: 2, mask: asynchronous, asynchronous)),
      ]
  }

  private static let needed = [
    // The link, the device and the pipes between them.
    "read", "readv", "write", "writev", "sendto", "recvfrom", "poll", "ppoll", "select", "_newselect", "pselect6",
    "ppoll_time64", "pselect6_time64",
    "close", "lseek",
    "_llseek", "pipe", "pipe2", "dup",
    // Which files there are. `bounded(_:)` restricts opening them.
    "access", "faccessat", "faccessat2", "stat", "stat64", "fstat", "fstat64", "lstat", "newfstatat", "fstatat64",
    "statx", "statfs",
    "fstatfs", "getdents", "getdents64", "readlink", "readlinkat",
    // Memory, and threads that wait for each other.
    "brk", "munmap", "mremap", "madvise", "mincore", "futex", "futex_time64", "membarrier", "sched_yield",
    "sched_getaffinity", "getcpu",
    // Time, and the alarm of a stuck process.
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_nanosleep", "clock_nanosleep_time64", "nanosleep",
    "gettimeofday", "time",
    "alarm", "setitimer", "getitimer", "restart_syscall",
    // Signals to itself, and exit.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "sigaltstack", "exit", "exit_group",
    // Information about the process and the machine.
    "getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "uname", "getrandom", "getrlimit",
    "ugetrlimit", "getrusage",
    "sysinfo",
  ]

  private static let neededForThreads = ["set_robust_list", "rseq", "set_tid_address"]

  private static let neededForLocalSockets = ["connect", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"]

  private static let neededForLibusb1 = [
    // Events.
    "eventfd2", "timerfd_create", "timerfd_settime",
    // Sockets.
    "connect", "bind", "getsockname", "getsockopt", "setsockopt", "sendmsg", "recvmsg", "shutdown",
  ]

  private static let fatal = [
    // Other programs and processes.
    "execve", "execveat", "fork", "vfork", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
    // Another user, or more privileges for this one.
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capset",
    "unshare", "setns",
    "setsid",
    // The machine.
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig",
    "mount_setattr", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "sethostname",
    "setdomainname",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "acct", "quotactl", "syslog", "iopl", "ioperm",
    "modify_ldt",
    // Large parts of the kernel that have been broken into before.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl",
    "add_key", "request_key",
    "open_by_handle_at", "fanotify_init", "memfd_create", "memfd_secret", "shmget", "msgget",
    "semget", "mq_open",
    "socketpair", "accept", "accept4", "listen", "personality",
  ]
}

/// Enforces a policy on system calls, by seccomp.
enum SystemCallFilter {
  enum Outcome: Equatable {
    /// The filter is in force, except for these rules, which libseccomp rejected. Their calls are not allowed.
    case inForce(missing: [String])
    /// The kernel has no filter of system calls.
    case unknown
    /// The kernel has a filter, but this one is not in force, for this reason.
    case failed(String)
  }

  /// Restricts every thread of the process to a policy for good. The process must have given up new privileges before.
  static func apply(_ policy: SystemCallPolicy) -> Outcome {
    guard tagroute_kernel_filters_calls() != 0 else { return .unknown }
    guard let filter = seccomp_init(answer(ENOSYS)) else { return .failed("libseccomp cannot be initialised") }
    defer { seccomp_release(filter) }
    // Otherwise libseccomp does not return the kernel's error codes. libseccomp before 2.5 lacks this attribute, which
    // is not an error.
    _ = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
    for (attribute, value) in [
      (SCMP_FLTATR_CTL_TSYNC, 1),
      // By default libseccomp would kill only the calling thread for a call of another architecture.
      (SCMP_FLTATR_ACT_BADARCH, UInt32(SCMP_ACT_KILL_PROCESS)),
    ] {
      let error = seccomp_attr_set(filter, attribute, value)
      guard error == 0 else { return .failed(words(error)) }
    }
    var missing: [String] = []
    for rule in policy.rules {
      let number = rule.call.withCString(seccomp_syscall_resolve_name)
      // This libseccomp is older than the call.
      guard number != __NR_SCMP_ERROR else { continue }
      // A call without a rule is refused. Without a rule the process may do less, never more.
      if let error = add(rule, number, to: filter) { missing.append("\(rule.call): \(words(error))") }
    }
    let error = seccomp_load(filter)
    return error == 0 ? .inForce(missing: missing) : .failed(words(error))
  }

  private static func add(_ rule: SystemCallPolicy.Rule, _ number: Int32, to filter: scmp_filter_ctx) -> Int32? {
    let action: UInt32
    switch rule.verdict {
    case .allow: action = UInt32(SCMP_ACT_ALLOW)
    case .refuse: action = answer(EPERM)
    case .kill: action = UInt32(SCMP_ACT_KILL_PROCESS)
    }
    let conditions = rule.conditions.map(comparison)
    let error = seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions)
    // This architecture has no such call.
    return error == 0 || error == -EDOM ? nil : error
  }

  private static func comparison(_ condition: SystemCallPolicy.Condition) -> scmp_arg_cmp {
    switch condition {
    case .equal(let argument, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
    case .notEqual(let argument, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_NE, datum_a: value, datum_b: 0)
    case .masked(let argument, let mask, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    }
  }

  /// SCMP_ACT_ERRNO, a macro that Swift does not import.
  private static func answer(_ error: Int32) -> UInt32 { 0x0005_0000 | UInt32(error) }

  private static func words(_ error: Int32) -> String { String(cString: strerror(-error)) }
}
