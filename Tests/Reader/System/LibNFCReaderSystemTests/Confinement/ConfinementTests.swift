import CShims
import Daemon
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit

/// The privileges that a running reader process has given up, as the kernel reports them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ConfinementTests {
  @Test func `the process cannot gain privileges and leaves no core dump`() async throws {
    let directory = try TemporaryDirectory()
    // If a process cannot be dumped, root owns its files in /proc. For a process of root there is no difference. If the
    // test runs as root, the process therefore runs as another user.
    let lowered = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
    let program = try directory.write(
      "#!/bin/sh\nexec \(lowered) \(try BuiltProducts.program("tagroute-reader")) \"$@\"\n", to: "reader", mode: 0o755)
    let process = ReaderProcess(
      ReaderProcess.Configuration(
        program: program, device: "pn532_uart:\(directory.file("none"))", environment: ["PATH=/usr/bin:/bin"]),
      on: EventLoop(label: "daemon"))
    await process.start()
    // The process reports an absent device long after it has confined itself.
    for await event in process.events {
      if case .phase(.absent, _) = event { break }
      // The restrictions that are in force, and those that are not.
      if case .log(.debug, _) = event { continue }
      if case .log(.notice, let line) = event, !hasLandlock, line.contains("Landlock") { continue }
      Issue.record("\(event)")
    }
    let child = try #require(await process.processID)
    let status = try lines("/proc/\(child)/status")
    #expect(status.contains("NoNewPrivs:\t1"))
    #expect(status.contains("Seccomp:\t2"))
    let cores = try #require(try lines("/proc/\(child)/limits").first { $0.hasPrefix("Max core file size") })
    #expect(cores.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    var information = stat()
    #expect(stat("/proc/\(child)/environ", &information) == 0)
    #expect(information.st_uid == 0, "the process can be dumped")
    #expect(status.first { $0.hasPrefix("Uid:") } != "Uid:\t0\t0\t0\t0", "a process of root shows no difference")
    await process.stop()
  }

  /// A process is confined to one device. If the device is plugged in again, another process takes over.
  @Test func `a device that is plugged in again is opened by another process`() async throws {
    let rig = try await ReaderRig.scanning()
    let first = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(first)/status").contains("Seccomp:\t2"))
    await rig.simulator.unplug()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.simulator.plug()
    try await rig.isReady()
    let second = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(second)/status").contains("Seccomp:\t2"))
    // Without Landlock, the first process may open any file with that name.
    #expect((second != first) == (tagroute_landlock_version() > 0))
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The kernel updates the change time of a USB device at each transfer. udev and logind update it when they set the
  /// owner.
  @Test(.enabled(if: hasLandlock, noLandlock))
  func `a device stays the same when its permissions or times change`() async throws {
    let directory = try TemporaryDirectory()
    let port = try directory.write("", to: "port")
    await #expect(processExitsWith: .exitCode(7)) { [port = port as String] in
      // Without root, Landlock requires this first.
      _ = tagroute_set_no_new_privileges()
      let files = FileConfinement([ConfinementPlan.FileRule(path: port, use: .device)])
      guard files.version != nil, files.newDevice == nil else { _exit(1) }
      guard chmod(port, 0o660) == 0, files.newDevice == nil else { _exit(2) }
      var times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 2, tv_nsec: 2)]
      guard utimensat(AT_FDCWD, port, &times, 0) == 0, files.newDevice == nil else { _exit(3) }
      // The process may open this device.
      guard open(port, O_RDWR) >= 0 else { _exit(4) }
      _exit(7)
    }
  }

  /// Runs in a separate process, without a daemon. The remaining time of an alarm depends on when the test reads it, so
  /// the test only tells an hour from seconds. The tests of `ReaderTiming.secondsUntilAlarm` check the exact number.
  @Test func `a promise postpones the alarm of a signal, and sets none without a signal`() async {
    await #expect(processExitsWith: .success) {
      // Ignored, so that an alarm that is due early does not end the process.
      signal(SIGALRM, SIG_IGN)
      let daemon = DaemonConnection(DaemonChannel(descriptor: -1), ReaderTiming(device: "acr122_usb"))
      try? daemon.promise(.seconds(12))
      #expect(alarm(0) == 0)
      alarm(3600)
      try? daemon.promise(.seconds(12))
      #expect(alarm(3600) < 1800)
      try? daemon.beat()
      #expect(alarm(0) < 1800)
      // Also to a later time than before.
      alarm(1800)
      try? daemon.promise(.seconds(7200))
      #expect(alarm(0) > 1800)
    }
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// The privileges that a reader process keeps, by its driver.
@Suite struct ConfinementPlanTests {
  typealias Plan = ConfinementPlan

  @Test(arguments: [
    ("pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0", Plan.DeviceKind.terminal),
    ("pn532_uart:/dev/serial/by-id/usb-FTDI:115200", "/dev/serial/by-id/usb-FTDI", .terminal),
    ("arygon:/dev/ttyS0", "/dev/ttyS0", .terminal), ("acr122s:/dev/ttyACM3:9600", "/dev/ttyACM3", .terminal),
    ("pn532_i2c:/dev/i2c-1", "/dev/i2c-1", .i2c), ("pn532_spi:/dev/spidev0.0:50000", "/dev/spidev0.0", .spi),
    // libnfc searches for the port itself.
    ("pn532_uart", "/dev", .terminal), ("pn532_uart:ttyUSB0", "/dev", .terminal),
  ])
  func `a driver for a port may open only that port`(device: String, path: String, kind: Plan.DeviceKind) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files == [Plan.FileRule(path: path, use: .device)])
    #expect(plan.kinds == [kind])
    #expect(!plan.usesLibusb1)
  }

  @Test(arguments: [
    ("pn53x_usb:001:004", ["/dev/bus/usb/001/004", "/dev/bus/usb"]),
    ("acr122_usb:002:014", ["/dev/bus/usb/002/014", "/dev/bus/usb"]),
    ("pn53x_usb", ["/dev/bus/usb"]), ("pn53x_usb:001", ["/dev/bus/usb"]), ("pn53x_usb:../:004", ["/dev/bus/usb"]),
    ("acr122_usb:0x1:004", ["/dev/bus/usb"]),
  ])
  func `a USB driver may open the named device, or any USB device if none is named`(device: String, paths: [String]) {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files.map(\.path) == paths)
    #expect(plan.files.first?.use == .device)
    #expect(plan.files.dropFirst().allSatisfy { $0.use == .names })
    #expect(plan.kinds == [.usb])
    #expect(!plan.usesLibusb1)
  }

  @Test func `libusb 1 may read sysfs, receive device events and start a thread`() {
    let plan = Plan(device: "pn53x_usb:001:004", Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files.filter { $0.use == .read }.map(\.path) == ["/sys/devices", "/run/udev/data"])
    #expect(plan.files.filter { $0.use == .names }.map(\.path) == ["/dev/bus/usb", "/sys/bus", "/sys/class"])
    #expect(plan.usesLibusb1 && !plan.limits.contains(.processes(0)))
  }

  /// A process that may connect to the socket of pcscd may connect to any local socket, including the system bus.
  @Test(arguments: ["pcsc:ACS", "acr122_pcsc:ACS", "pcsc"])
  func `a driver for pcscd is refused and gets no privileges`(device: String) throws {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files == [] && plan.kinds == [] && !plan.usesLibusb1)
    let refusal = DeviceSearch(configured: device).candidate { [] }
    var reason = ""
    if case .failure(let obstacle) = refusal, case .failed(let words) = obstacle.state { reason = words }
    #expect(reason.contains("pcscd"))
  }

  @Test(arguments: [nil, "", "unknown:/dev/ttyS0"]) func `a search may open all devices`(device: String?) {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files == [Plan.FileRule(path: "/dev", use: .device)])
    #expect(plan.kinds == Plan.DeviceKind.allCases)
    #expect(!plan.usesLibusb1)
  }

  @Test func `the limits depend on how the process was built and started`() {
    func limits(_ circumstances: Plan.Circumstances) -> [Plan.Limit] {
      Plan(device: "pn532_uart:/dev/x", circumstances).limits
    }
    #expect(limits(Plan.Circumstances()).contains(.fileSize(0)))
    #expect(!limits(Plan.Circumstances(writesToFile: true)).contains(.fileSize(0)))
    #expect(limits(Plan.Circumstances()).contains(.addressSpace(1 << 30)))
    #expect(!limits(Plan.Circumstances(isSanitized: true)).contains(.addressSpace(1 << 30)))
    #expect(limits(Plan.Circumstances()).contains(.processes(0)))
  }

  @Test(arguments: [nil, "pn532_uart:/dev/x", "pn53x_usb:001:004", "pn532_spi:/dev/x", "pcsc"], [false, true])
  func `no plan allows a call that no reader needs`(device: String?, hasLibusb1: Bool) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1))
    let rules = SystemCallPolicy(plan, process: 42).rules
    for call in [
      "execve", "execveat", "fork", "ptrace", "mount", "bpf", "setuid", "kill", "memfd_create", "io_uring_setup",
    ] {
      #expect(rules.filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
    // Calls that are harmless only with some arguments are allowed only with conditions.
    for call in ["ioctl", "openat", "mmap", "mprotect", "clone", "tgkill", "prlimit64", "fcntl", "fcntl64"] {
      #expect(rules.contains { $0.call == call } && rules.allSatisfy { $0.call != call || !$0.conditions.isEmpty })
    }
    // If a call had a rule with conditions and one without, libseccomp would silently use the wider one.
    let unconditional = rules.filter(\.conditions.isEmpty).map(\.call)
    #expect(Set(unconditional).count == unconditional.count)
    for rule in rules where !rule.conditions.isEmpty { #expect(!unconditional.contains(rule.call), "\(rule.call)") }
  }

  @Test(arguments: [nil, "pn532_uart:/dev/x", "pn53x_usb:001:004", "pcsc"], [false, true])
  func `no plan allows the calls that set up the confinement`(device: String?, hasLibusb1: Bool) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1))
    for rule in SystemCallPolicy(plan, process: 42).rules where rule.verdict == .allow {
      #expect(!rule.call.hasPrefix("landlock_") && rule.call != "seccomp")
      // A rule for a socket restricts both its domain and its protocol.
      if rule.call == "socket" { #expect(rule.conditions.count == 2) }
    }
  }

  @Test(arguments: [nil, "pn532_uart:/dev/x", "pn53x_usb:001:004", "pcsc"], [false, true])
  func `no plan allows a file to be created or emptied`(device: String?, hasLibusb1: Bool) {
    let rules = SystemCallPolicy(Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1)), process: 42).rules
    for (call, argument) in [("open", UInt32(1)), ("openat", 2)] {
      let conditions = rules.filter { $0.call == call }.map(\.conditions)
      #expect(conditions.count == 1)
      guard case .masked(argument, let mask, 0)? = conditions.first?.first else {
        Issue.record("\(call) is allowed with any flags")
        continue
      }
      for flag in [O_CREAT, O_TRUNC, 0o20_000_000] { #expect(mask & UInt64(flag) != 0, "\(call) \(flag)") }
    }
    for call in ["creat", "openat2", "truncate", "truncate64", "ftruncate", "ftruncate64", "fallocate"] {
      #expect(!rules.contains { $0.call == call })
    }
  }

  @Test func `only the ioctl requests for the kind of device are allowed`() {
    func requests(_ device: String) -> Int {
      SystemCallPolicy(Plan(device: device, Plan.Circumstances()), process: 42).rules.count { $0.call == "ioctl" }
    }
    // One request is the C library's: it checks whether standard output is a terminal.
    #expect(requests("pn532_i2c:/dev/i2c-1") == 2)
    #expect(requests("pcsc") == 1)
    #expect(requests("pn532_uart:/dev/x") < requests(""))
  }
}

/// The real reader process on a kernel that lacks a confinement feature. A filter makes the kernel appear to lack it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ConfinementGapTests {
  /// The kernel could filter the system calls, but refuses to. A tag must not reach such an unfiltered process.
  @Test(arguments: ["permission to filter", "no new privileges"])
  func `no device is opened if the kernel refuses to filter system calls`(lack: String) async throws {
    let rig = try await ReaderRig(environment: try await environment(lacking: lack))
    await rig.setScanning(true)
    let reason = try await rig.next("a reader that has failed") { event in
      if case .phase(.failed(let reason), _) = event { reason } else { nil }
    }
    #expect(reason.contains("cannot filter its system calls"))
    #expect(await rig.simulator.counters.commands == 0)
  }

  @Test func `no reader is searched for if the kernel refuses to filter system calls`() async throws {
    let ended = try await ChildProcess.run(
      try BuiltProducts.program("tagroute-reader"), ["--list"],
      environment: try await Attempt.environment(lacking: "permission to filter"))
    #expect(ended.status == .exited(Names.ExitCode.failure))
    // The library that replaces libnfc's search would print a line.
    #expect(ended.output.isEmpty)
    #expect(ended.log.contains { $0.contains("cannot filter its system calls") })
  }

  /// The reader works without the missing restriction.
  @Test(arguments: [
    ("filters", "system calls", "the kernel does not support system call filters"),
    ("Landlock", "Landlock", "the kernel does not support Landlock"),
    ("permission for Landlock", "Landlock", "no Landlock: the container or an outer system call filter"),
    ("new limits", "limits", "limit 4: Operation not permitted"),
    ("closed memory", "closed memory", "can read its memory"),
  ])
  func `the log names a missing restriction and does not claim that it is in force`(
    lack: String, part: String, gap: String
  ) async throws {
    let whole = try await summary(of: try await ReaderRig(environment: try await environment(lacking: "nothing")))
    if part != "Landlock" || hasLandlock { #expect(whole.contains(part)) }
    let rig = try await ReaderRig(environment: try await environment(lacking: lack))
    var lines: [String] = []
    try await rig.next("a reader that is ready") { event in
      if case .log(_, let line) = event { lines.append(line) }
      return if case .phase(.ready, _) = event { true } else { nil }
    }
    let notice = try #require(lines.first { $0.hasPrefix("some restrictions are not in force: ") })
    #expect(notice.contains(gap))
    let summary = try #require(lines.first { $0.hasPrefix("confined: ") })
    // All other restrictions are in force.
    let others = whole.split(separator: ": ").last?.split(separator: ", ").filter { !$0.contains(part) } ?? []
    #expect(summary == "confined: " + others.joined(separator: ", "))
  }

  /// An old libseccomp may not support a rule. All other rules have to be in force.
  @Test func `a rule that libseccomp rejects does not drop the others`() async throws {
    // A thread of libdispatch may make a refused call and abort before the call below. The filter has caused any
    // abnormal end.
    await #expect(processExitsWith: .failure) {
      _ = Confinement.begin()
      let policy = SystemCallPolicy(ConfinementPlan(device: "pn532_uart:/dev/x", .own), process: getpid())
      // A call has six arguments.
      let rules = [SystemCallPolicy.Rule(.allow, "ioctl", .equal(argument: 6, 0))] + policy.rules
      guard case .inForce(let missing) = SystemCallFilter.apply(SystemCallPolicy(rules: rules)) else { _exit(0) }
      guard missing.count == 1, missing[0].hasPrefix("ioctl: ") else { _exit(0) }
      _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      _exit(0)
    }
  }

  private func environment(lacking lack: String) async throws -> [String] {
    try await Attempt.environment(lacking: lack).map { "\($0.key)=\($0.value)" }
  }

  private func summary(of rig: ReaderRig) async throws -> String {
    let line = try await rig.next("the summary of the confinement") { event in
      if case .log(.debug, let line) = event, line.hasPrefix("confined: ") { line } else { nil }
    }
    await rig.stop()
    return line
  }
}
