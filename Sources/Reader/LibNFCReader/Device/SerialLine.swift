import Glibc

/// A rate of the line between a host and a PN532.
struct SerialRate: Equatable {
  /// In bits per second.
  let baud: Int
  /// The parameter BR of SetSerialBaudRate (UM0701-02, 7.2.8).
  let code: UInt8
  /// The same rate for termios(3).
  let speed: speed_t

  /// The rate of a chip that has just got its power, and libnfc's default.
  static let initial = SerialRate(baud: 115_200, code: 0x04, speed: speed_t(B115200))
  /// The best first.
  static let higher = [
    SerialRate(baud: 921_600, code: 0x07, speed: speed_t(B921600)),
    SerialRate(baud: 460_800, code: 0x06, speed: speed_t(B460800)),
  ]
}

/// The serial line to a PN532, beside libnfc, which uses it too.
///
/// libnfc cannot change the rate while a device is open, and knows none above 460,800 baud. The settings of a line
/// belong to the line, not to a descriptor. So this type changes them through a descriptor of its own, between two
/// commands of libnfc.
///
/// The chip changes its rate when the host acknowledges the answer to SetSerialBaudRate, and keeps it until it loses its
/// power. `restoreIfLeft` and `restoreFromAny` find a chip that a killed process has left at another rate.
final class SerialLine {
  private let descriptor: Int32
  /// Whether `Devices=` names no rate, and the host sets the rate of this line.
  let mayRaise: Bool
  /// Whether `raise` has told the chip to change its rate. If the line fails then, the chip may be at a rate at which it
  /// cannot be reached until it loses its power.
  private(set) var hasToldChip = false

  private static let getFirmwareVersion: UInt8 = 0x02
  private static let setSerialBaudRate: UInt8 = 0x10
  /// The chip answers such commands at once. nfcpy waits 100 ms for them.
  private static let answerTime = Duration.milliseconds(200)
  /// In microseconds. An adapter may still hold the last frame, which takes 0.5 ms, after the kernel has sent it.
  private static let settling: UInt32 = 2000
  private static let acknowledgement: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
  /// The number of the test, and bytes with bits of many patterns.
  private static let echo: [UInt8] = [0x00, 0x00] + (UInt8(0)..<16).flatMap { [$0 * 17, ~($0 * 17), 0x55, 0xFF] }

  /// Nil if this is no PN532 on a serial line, if the user has written a rate other than the initial one, or if the line
  /// cannot be opened.
  init?(_ connectionString: String) {
    guard let (path, hasRate) = Self.parts(of: connectionString) else { return nil }
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    mayRaise = !hasRate && fstat(descriptor, &status) == 0 && !Self.hasFixedRate(status.st_rdev)
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// `pn532_uart:/dev/ttyUSB0` has no rate, and `pn532_uart:/dev/ttyUSB0:115200` has one. Nil for any other device.
  static func parts(of connectionString: String) -> (path: String, hasRate: Bool)? {
    let parts = connectionString.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts[0] == "pn532_uart", parts[1].hasPrefix("/"),
      parts.count == 2 || parts[2] == "\(SerialRate.initial.baud)"
    else { return nil }
    return (String(parts[1]), parts.count == 3)
  }

  /// Whether a program between host and chip may speak to the chip at a rate of its own: a microcontroller, such as an
  /// Arduino, behind a ttyACM, or a Bluetooth module behind an rfcomm. The chip could not be reached at another rate until
  /// it loses its power (Linux, Documentation/admin-guide/devices.txt).
  static func hasFixedRate(_ device: dev_t) -> Bool { [166, 216].contains(device >> 8 & 0xFFF) }

  /// Raises the rate of chip and host, and checks that the line works at it. libnfc has opened the device as `chip`, and
  /// waits for no answer. Returns the new rate; nil if the line is at the initial rate as before.
  ///
  /// Takes some 10 ms, and 1.5 s at most.
  func raise(_ chip: any ChipLine) -> SerialRate? {
    for rate in SerialRate.higher {
      let isPossible = set(rate)
      set(.initial)
      guard isPossible else { continue }
      hasToldChip = true
      switch ask([Self.setSerialBaudRate, rate.code], chip) {
      case .bytes: break
      case .timeout: return nil
      default: continue
      }
      send(Self.acknowledgement)
      set(rate)
      // Diagnose, communication line test (UM0701-02, 7.2.1).
      if case .bytes(Self.echo) = ask([NFCDevice.Command.diagnose] + Self.echo, chip) { return rate }
      restore(from: rate)
    }
    return nil
  }

  /// Sets the chip, which is at `rate`, and the host to the initial rate. Returns whether the chip has answered at it.
  @discardableResult func restore(from rate: SerialRate) -> Bool {
    // If the last acknowledgement was lost, the chip is still at the other rate.
    for _ in 0..<2 {
      set(rate)
      // A chip may be at work for a process that was killed. This aborts its command (UM0701-02, 6.2.1.4).
      send(Self.acknowledgement)
      let isTold = answers([Self.setSerialBaudRate, SerialRate.initial.code])
      send(Self.acknowledgement)
      set(.initial)
      guard isTold else { return false }
      if answers([Self.getFirmwareVersion]) { return true }
    }
    return false
  }

  /// The kernel still has the settings of a process that was killed. This saves a failing attempt of libnfc.
  func restoreIfLeft() {
    if let rate = SerialRate.higher.first(where: { $0.speed == speed }) { restore(from: rate) }
  }

  /// The chip does not answer at the initial rate. Returns whether it has answered at another one.
  func restoreFromAny() -> Bool { SerialRate.higher.contains { restore(from: $0) } }

  private func ask(_ command: [UInt8], _ chip: any ChipLine) -> LineAnswer {
    chip.transceive(command, answerRoom: Self.echo.count, within: Self.answerTime)
  }

  // MARK: The host's side

  private var settings: termios? {
    var settings = termios()
    return tcgetattr(descriptor, &settings) == 0 ? settings : nil
  }

  private var speed: speed_t? { settings.map { settings in withUnsafePointer(to: settings) { cfgetospeed($0) } } }

  /// Once all bytes are sent. Returns whether the adapter has this rate: the kernel shows the nearest one that it has.
  @discardableResult private func set(_ rate: SerialRate) -> Bool {
    guard var settings else { return false }
    tcdrain(descriptor)
    usleep(Self.settling)
    cfmakeraw(&settings)
    // As libnfc sets it: without the flow control that another program may have left.
    settings.c_cflag = tcflag_t(CS8 | CLOCAL | CREAD)
    cfsetspeed(&settings, rate.speed)
    return tcsetattr(descriptor, TCSANOW, &settings) == 0 && speed == rate.speed
  }

  private func send(_ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

  /// Sends a command without libnfc. Returns whether its answer comes in time, and drops it.
  private func answers(_ command: [UInt8]) -> Bool {
    guard let code = command.first else { return false }
    tcflush(descriptor, TCIFLUSH)
    send(Self.frame(command))
    let wanted: [UInt8] = [0xD5, code + 1]
    let deadline = SuspendingClock.now + Self.answerTime
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64)
    while !zip(received, received.dropFirst()).contains(where: { [$0, $1] == wanted }) {
      let rest = SuspendingClock.now.duration(to: deadline)
      guard rest > .zero, received.count < 1024 else { return false }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // A signal may interrupt this.
      guard poll(&ready, 1, Int32(rest / .milliseconds(1)) + 1) > 0 else { continue }
      let count = read(descriptor, &buffer, buffer.count)
      // The line is cut.
      guard count > 0 else { return false }
      received += buffer[..<count]
    }
    return true
  }

  /// A normal information frame (UM0701-02, 6.2.1.1).
  private static func frame(_ command: [UInt8]) -> [UInt8] {
    let payload = [0xD4] + command
    let length = UInt8(truncatingIfNeeded: payload.count)
    return [0x00, 0x00, 0xFF, length, 0 &- length] + payload + [0 &- payload.reduce(0, &+), 0x00]
  }
}
