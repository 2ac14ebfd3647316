import CShims
import EventLoop
import Glibc
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit

/// Operations that a compromised reader process might try, tried in the real process. The outcome before the process
/// confines itself has to differ from the outcome after that.
@Suite(.timeLimit(.minutes(5))) struct ConfinedAttemptTests {
  private static let whatNoReaderNeeds =
    Attempt.whatNoReaderNeeds + [
      // The network and the sockets of other programs.
      .killed("internet socket"), .killed("local socket"), .killed("netlink socket"), .killed("route socket"),
      .killed("connect"), .unknown("thread"),
    ]

  @Test(arguments: whatNoReaderNeeds)
  func `an operation that no reader needs is blocked`(attempt: Attempt) async throws {
    try await check(attempt, device: "pn532_uart:/dev/nothing")
  }

  @Test(.enabled(if: hasLandlock, noLandlock), arguments: Attempt.filesOfOthers)
  func `the process cannot open any file other than its device`(attempt: Attempt) async throws {
    try await check(attempt, device: "pn532_uart:/dev/nothing")
  }

  @Test(.enabled(if: hasLandlock, noLandlock))
  func `the process cannot open a file in a directory of the user`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("x", to: "file")
    for attempt in [
      Attempt.withoutFile("read", file), .withoutFile("write", file), .withoutFile("list", directory.path),
    ] {
      try await check(attempt, device: "pn532_uart:/dev/nothing")
    }
  }

  @Test func `the process cannot change a directory of the user`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("x", to: "file")
    for attempt in [Attempt.unknown("remove", file), .unknown("link", directory.file("link"))] {
      #expect(try await attempt(isConfined: true, device: "pn532_uart:/dev/nothing") == .error("ENOSYS"))
      #expect(try await attempt(isConfined: false, device: "pn532_uart:/dev/nothing") == .done)
    }
  }

  /// Without Landlock, the process can open a file for writing. No call lets it empty the file.
  @Test(arguments: [
    "truncate", "truncate for reading", "truncate by name", "truncate as created", "truncate with openat2",
  ])
  func `the process cannot empty a file of the user`(attempt: String) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("enabled", to: "file")
    var attempt = Attempt.unknown(attempt, file)
    attempt.lack = "Landlock"
    #expect(try await attempt(isConfined: true, device: "pn532_uart:/dev/nothing") == attempt.outcome)
    #expect(try readFile(file) == Array("enabled".utf8))
    #expect(try await attempt(isConfined: false, device: "pn532_uart:/dev/nothing") == .done)
    #expect(try readFile(file).isEmpty)
  }

  /// The limit of file sizes does not apply to mapped memory.
  @Test func `the process cannot overwrite a file of the user through mapped memory`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("enabled", to: "file")
    var attempt = Attempt.refused("written through memory", file)
    attempt.lack = "Landlock"
    #expect(try await attempt(isConfined: true, device: "pn532_uart:/dev/nothing") == attempt.outcome)
    #expect(try readFile(file) == Array("enabled".utf8))
    #expect(try await attempt(isConfined: false, device: "pn532_uart:/dev/nothing") == .done)
    #expect(try readFile(file) == Array("ynabled".utf8))
  }

  /// The port of another reader is a file of the same kind.
  @Test(.enabled(if: hasLandlock, noLandlock)) func `the process cannot open a port other than its own`() async throws {
    let own = try PseudoTerminal()
    let other = try PseudoTerminal()
    for driver in ["pn532_uart", "arygon", "acr122s"] {
      try await check(.withoutFile("open device", other.path), device: "\(driver):\(own.path)")
    }
  }

  @Test func `the process can open its own port`() async throws {
    let directory = try TemporaryDirectory()
    let own = try PseudoTerminal()
    // A link, as in /dev/serial/by-id.
    let link = directory.file("by-id")
    #expect(symlink(own.path, link) == 0)
    for device in ["pn532_uart:\(own.path):115200", "pn532_uart:\(link)", "arygon:\(link)", "acr122s:\(own.path)"] {
      for path in [own.path, link] {
        #expect(
          try await Attempt(name: "open device", subject: path, outcome: .done)(isConfined: true, device: device)
            == .done)
      }
    }
    let device = "pn532_uart:\(own.path)"
    let mode = Attempt(name: "terminal's mode", subject: own.path, outcome: .done)
    #expect(try await mode(isConfined: true, device: device) == .done)
    try await check(.unknown("window size", own.path), device: device)
    try await check(.unknown("type on terminal", own.path), device: device)
  }

  /// A driver for USB or I2C needs no serial port.
  @Test(.enabled(if: hasLandlock, noLandlock)) func `a reader on USB or I2C cannot open a serial port`() async throws {
    let port = try PseudoTerminal()
    for device in ["pn53x_usb:001:004", "acr122_usb", "pn532_i2c:/dev/i2c-1"] {
      try await check(.withoutFile("open device", port.path), device: device)
    }
  }

  /// The other chips on the bus belong to the machine: sensors, memories and voltage regulators.
  @Test(arguments: ["pn532_i2c:/dev/i2c-1", nil])
  func `on an I2C bus the process reaches only the PN532`(device: String?) async throws {
    // Standard input is not a bus, so an allowed request fails with ENOTTY.
    let own = Attempt(name: "chip's address", subject: "0x24", outcome: .error("ENOTTY"))
    #expect(try await own(isConfined: true, device: device) == own.outcome)
    for address in ["0x50", "0x100000024"] { try await check(.unknown("chip's address", address), device: device) }
    try await check(.unknown("chip's address", "0x24"), device: "pn532_spi:/dev/spidev0.0")
  }

  /// The real libusb 1 and the real libudev find a reader in a simulated /sys.
  @Test(arguments: ["pn53x_usb:001:004", "pn53x_usb", nil])
  func `libusb 1 finds readers`(device: String?) async throws {
    let testbed = try await DeviceTestbed()
    let attempt = Attempt(name: "devices", outcome: .done, hasLibusb1: true, testbed: testbed)
    // The testbed has no reader yet.
    #expect(try await attempt(isConfined: true, device: device) == .error("ENODEV"))
    let path = try await testbed.plugUSB("1-1", "04cc:2533", number: 4)
    // Written directly, because these bytes are not text. umockdev takes attributes as text.
    let file = FileDescriptor(
      owning: open(
        "\(testbed.environment["UMOCKDEV_DIR"] ?? "")\(path)/descriptors", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644))
    #expect(write(file.rawValue, Self.descriptors, Self.descriptors.count) == Self.descriptors.count)
    #expect(try await attempt(isConfined: false, device: device) == .done)
    #expect(try await attempt(isConfined: true, device: device) == .done)
  }

  /// The descriptors of a PN533: a device and a configuration without an interface (Universal Serial Bus Specification
  /// 2.0, sections 9.6.1 and 9.6.3).
  private static let descriptors: [UInt8] =
    [18, 1, 0, 2, 0, 0, 0, 8, 0xCC, 0x04, 0x33, 0x25, 0, 1, 0, 0, 0, 1] + [9, 2, 9, 0, 0, 1, 0, 0x80, 50]

  /// libusb 1 looks for devices in /sys, which contains many other files.
  @Test(
    .enabled(if: hasLandlock, noLandlock),
    arguments: [
      Attempt.withoutFile("list", "/sys/kernel"), .withoutFile("list", "/sys/module"),
      .withoutFile("read", "/sys/bus/platform/drivers_autoprobe"), .withoutFile("list", "/run"),
    ])
  func `libusb 1 cannot read files in sys and run that are not about devices`(attempt: Attempt) async throws {
    var attempt = attempt
    attempt.hasLibusb1 = true
    for device in ["pn53x_usb:001:004", nil] { try await check(attempt, device: device) }
  }

  /// libusb 1 needs a socket for device events, so a call for another socket fails instead of ending the process.
  @Test func `libusb 1 can open a socket for device events, but no other socket`() async throws {
    for device in ["pn53x_usb:001:004", nil] {
      let heard = Attempt(name: "netlink socket", outcome: .done, hasLibusb1: true)
      #expect(try await heard(isConfined: true, device: device) == .done)
      for name in ["route socket", "local socket", "internet socket"] {
        try await check(Attempt(name: name, outcome: .error("ENOSYS"), hasLibusb1: true), device: device)
      }
    }
    // The same program without libusb 1.
    try await check(.killed("netlink socket"), device: "pn53x_usb:001:004")
    try await check(.killed("netlink socket"), device: nil)
  }

  @Test func `a process that searches for readers can open devices but start no program`() async throws {
    let port = try PseudoTerminal()
    #expect(
      try await Attempt(name: "open device", subject: port.path, outcome: .done)(isConfined: true, device: nil) == .done
    )
    for attempt in [Attempt.killed("execute"), .killed("fork")] { try await check(attempt, device: nil) }
  }

  @Test(.enabled(if: hasLandlock, noLandlock))
  func `a process that searches for readers cannot open other files`() async throws {
    try await check(.withoutFile("read", "/etc/passwd"), device: nil)
  }

  /// The daemon sees the signal of a crash, even though the filter refuses other calls on the way.
  @Test(
    .enabled(if: tagroute_is_sanitized() == 0, "a sanitizer has its own signal handlers"),
    arguments: [("crash", SIGSEGV), ("abort", SIGABRT)])
  func `a crash ends the confined process by its signal`(attempt: String, signal: Int32) async throws {
    let outcome = Attempt.Outcome.killed(signal)
    #expect(
      try await Attempt(name: attempt, outcome: outcome)(isConfined: true, device: "pn532_uart:/dev/x") == outcome)
  }

  /// A process that prints no outcome has not tried the operation.
  @Test(arguments: ["nothing said", "an attempt that there is not"])
  func `an operation that was not tried does not pass as done`(name: String) async {
    for isConfined in [false, true] {
      await #expect(throws: RigError.self) {
        try await Attempt(name: name, outcome: .done)(isConfined: isConfined, device: "pn532_uart:/dev/nothing")
      }
    }
  }

  // MARK: Helpers

  private func check(
    _ attempt: Attempt, device: String?, at location: SourceLocation = #_sourceLocation
  ) async throws {
    try await attempt.check(at: location) { try await attempt(isConfined: $0, device: device) }
  }
}

/// A pseudo-terminal that takes the place of a serial port.
private final class PseudoTerminal {
  let path: String
  private let controlling: FileDescriptor

  init() throws {
    var name = [CChar](repeating: 0, count: 64)
    let descriptor = tagroute_open_pseudo_terminal(&name, name.count)
    guard descriptor >= 0 else { throw SystemError("make a pseudo-terminal") }
    controlling = FileDescriptor(owning: descriptor)
    path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
