import Glibc
import ReaderLink
import Testing

@testable import Reader

/// What is left to a reader process, by its driver.
@Suite struct ConfinementPlanTests {
  typealias Plan = ConfinementPlan

  @Test(arguments: [
    ("pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0", Plan.DeviceKind.terminal),
    ("pn532_uart:/dev/serial/by-id/usb-FTDI:115200", "/dev/serial/by-id/usb-FTDI", .terminal),
    ("arygon:/dev/ttyS0", "/dev/ttyS0", .terminal), ("acr122s:/dev/ttyACM3:9600", "/dev/ttyACM3", .terminal),
    ("pn532_i2c:/dev/i2c-1", "/dev/i2c-1", .i2c), ("pn532_spi:/dev/spidev0.0:50000", "/dev/spidev0.0", .spi),
    // libnfc looks for the port itself
    ("pn532_uart", "/dev", .terminal), ("pn532_uart:ttyUSB0", "/dev", .terminal),
  ])
  func aDriverOfAPortHasThatPort(device: String, path: String, kind: Plan.DeviceKind) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files == [Plan.FileRule(path: path, use: .device)])
    #expect(plan.kinds == [kind])
    #expect(plan.sockets == [] && !plan.startsThreads)
  }

  @Test(arguments: [
    ("pn53x_usb:001:004", ["/dev/bus/usb/001/004", "/dev/bus/usb"]),
    ("acr122_usb:002:014", ["/dev/bus/usb/002/014", "/dev/bus/usb"]),
    ("pn53x_usb", ["/dev/bus/usb"]), ("pn53x_usb:001", ["/dev/bus/usb"]), ("pn53x_usb:../:004", ["/dev/bus/usb"]),
    ("acr122_usb:0x1:004", ["/dev/bus/usb"]),
  ])
  func aDriverOfUSBHasThatDevice(device: String, paths: [String]) {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files.map(\.path) == paths)
    #expect(plan.files.first?.use == .device)
    #expect(plan.files.dropFirst().allSatisfy { $0.use == .names })
    #expect(plan.kinds == [.usb])
    #expect(plan.sockets == [] && !plan.startsThreads)
  }

  @Test func libusb1LooksForDevicesInAThread() {
    let plan = Plan(device: "pn53x_usb:001:004", Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files.filter { $0.use == .read }.map(\.path) == ["/sys/devices", "/run/udev/data"])
    #expect(plan.files.filter { $0.use == .names }.map(\.path) == ["/dev/bus/usb", "/sys/bus", "/sys/class"])
    #expect(plan.sockets == [.deviceEvents])
    #expect(plan.startsThreads && !plan.limits.contains(.processes(0)))
  }

  /// Whoever may speak to pcscd's socket may speak to any, the system bus's among them.
  @Test(arguments: ["pcsc:ACS", "acr122_pcsc:ACS", "pcsc"]) func aDriverOfTheServiceHasNothingAndIsRefused(
    device: String
  ) throws {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files == [] && plan.kinds == [] && plan.sockets == [] && !plan.startsThreads)
    let refusal = DeviceSearch(configured: device).candidate { [] }
    var reason = ""
    if case .failure(let obstacle) = refusal, case .failed(let words) = obstacle.state { reason = words }
    #expect(reason.contains("pcscd"))
  }

  @Test(arguments: [nil, "", "unknown:/dev/ttyS0"]) func aSearchHasAllDevices(device: String?) {
    let plan = Plan(device: device, Plan.Circumstances())
    #expect(plan.files == [Plan.FileRule(path: "/dev", use: .device)])
    #expect(plan.kinds == Plan.DeviceKind.allCases)
    #expect(plan.sockets == [])
  }

  @Test func limitsLeaveRoomForWhatThereIs() {
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
  func noPlanLetsOutWhatNoReaderNeeds(device: String?, hasLibusb1: Bool) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1))
    let rules = SystemCallPolicy(plan, process: 42).rules
    for call in [
      "execve", "execveat", "fork", "ptrace", "mount", "bpf", "setuid", "kill", "memfd_create", "io_uring_setup",
    ] {
      #expect(rules.filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
    // Whatever can be told from its arguments has to be.
    for call in ["ioctl", "openat", "mmap", "mprotect", "clone", "tgkill", "prlimit64", "fcntl", "fcntl64"] {
      #expect(rules.contains { $0.call == call } && rules.allSatisfy { $0.call != call || !$0.conditions.isEmpty })
    }
    // libseccomp would take the wider of two rules in silence.
    let unconditional = rules.filter(\.conditions.isEmpty).map(\.call)
    #expect(Set(unconditional).count == unconditional.count)
    for rule in rules where !rule.conditions.isEmpty { #expect(!unconditional.contains(rule.call), "\(rule.call)") }
  }

  @Test(arguments: [nil, "pn532_uart:/dev/x", "pn53x_usb:001:004", "pcsc"], [false, true])
  func noPlanNeedsWhatWasDoneBefore(device: String?, hasLibusb1: Bool) {
    let plan = Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1))
    for rule in SystemCallPolicy(plan, process: 42).rules where rule.verdict == .allow {
      #expect(!rule.call.hasPrefix("landlock_") && rule.call != "seccomp")
      // Of a socket both are said, what it speaks and with whom.
      if rule.call == "socket" { #expect(rule.conditions.count == 2) }
    }
  }

  @Test(arguments: [nil, "pn532_uart:/dev/x", "pn53x_usb:001:004", "pcsc"], [false, true])
  func noPlanLetsFilesBeMadeOrEmptied(device: String?, hasLibusb1: Bool) {
    let rules = SystemCallPolicy(Plan(device: device, Plan.Circumstances(hasLibusb1: hasLibusb1)), process: 42).rules
    for (call, argument) in [("open", UInt32(1)), ("openat", 2)] {
      let conditions = rules.filter { $0.call == call }.map(\.conditions)
      #expect(conditions.count == 1)
      guard case .masked(argument, let mask, 0)? = conditions.first?.first else {
        Issue.record("\(call) may have any flag")
        continue
      }
      for flag in [O_CREAT, O_TRUNC, 0o20_000_000] { #expect(mask & UInt64(flag) != 0, "\(call) \(flag)") }
    }
    for call in ["creat", "openat2", "truncate", "truncate64", "ftruncate", "ftruncate64", "fallocate"] {
      #expect(!rules.contains { $0.call == call })
    }
  }

  @Test func onlyTheKindOfDeviceIsAskedAnything() {
    func requests(_ device: String) -> Int {
      SystemCallPolicy(Plan(device: device, Plan.Circumstances()), process: 42).rules.count { $0.call == "ioctl" }
    }
    // The question whether it is a terminal is the C library's, of standard output.
    #expect(requests("pn532_i2c:/dev/i2c-1") == 2)
    #expect(requests("pcsc") == 1)
    #expect(requests("pn532_uart:/dev/x") < requests(""))
  }
}
