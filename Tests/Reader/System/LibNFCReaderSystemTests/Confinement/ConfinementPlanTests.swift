import Glibc
import ReaderProtocol
import Testing

@testable import LibNFCReaderTests

@testable import LibNFCReader
@testable import ReaderKit

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
