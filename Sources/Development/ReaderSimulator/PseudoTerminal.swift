import CShims
import EventLoop
import Glibc

/// A pseudo-terminal that behaves like a serial line: raw, 115,200 baud until a host changes that.
struct PseudoTerminal {
  /// The chip's end. Reads and writes on it do not block.
  let controller: FileDescriptor
  /// Keeps the host's end open, so that the line stays up between two hosts.
  private let keeper: FileDescriptor
  /// The device file that the host opens.
  let path: String

  /// Fails if the system has no pseudo-terminal left.
  init() throws(SimulatorError) {
    var name = [CChar](repeating: 0, count: 128)
    let descriptor = tagroute_open_pseudo_terminal(&name, name.count)
    guard descriptor >= 0 else { throw Self.failure("open a pseudo-terminal") }
    controller = FileDescriptor(owning: descriptor)
    path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let line = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard line >= 0 else { throw Self.failure("open \(path)") }
    keeper = FileDescriptor(owning: line)
    var settings = termios()
    guard tcgetattr(line, &settings) == 0 else { throw Self.failure("read the settings of \(path)") }
    cfmakeraw(&settings)
    cfsetspeed(&settings, speed_t(B115200))
    guard tcsetattr(line, TCSANOW, &settings) == 0 else { throw Self.failure("make \(path) raw") }
  }

  /// The received bytes, at most 4 KiB; empty if there are none.
  func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(controller.rawValue, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : []
  }

  /// Sends bytes to the host. A serial line has no flow control: bytes beyond the host's buffer are lost.
  func write(_ bytes: [UInt8]) { _ = Glibc.write(controller.rawValue, bytes, bytes.count) }

  /// The rate that the host has set, in bits per second; nil if the chip has no such rate.
  var rate: Int? {
    var settings = termios()
    guard tcgetattr(keeper.rawValue, &settings) == 0 else { return nil }
    return Self.rates[cfgetospeed(&settings)]
  }

  private static let rates: [speed_t: Int] = [
    speed_t(B9600): 9600, speed_t(B19200): 19_200, speed_t(B38400): 38_400, speed_t(B57600): 57_600,
    speed_t(B115200): 115_200, speed_t(B230400): 230_400, speed_t(B460800): 460_800, speed_t(B921600): 921_600,
  ]

  private static func failure(_ attempt: String) -> SimulatorError {
    SimulatorError(SystemError(attempt).description)
  }
}

/// A symbolic link that gives the device a fixed name, as udev does.
struct DeviceLink {
  let path: String

  /// Creates or replaces the link. Fails if a file other than a symbolic link is in the way.
  func point(to target: String) throws(SimulatorError) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK {
      throw SimulatorError("\(path) exists and is not a symbolic link: remove it, or choose another --link")
    }
    let new = "\(path).new"
    unlink(new)
    guard symlink(target, new) == 0, rename(new, path) == 0 else {
      throw SimulatorError(SystemError("make the link \(path)").description)
    }
  }

  func remove() { unlink(path) }
}
