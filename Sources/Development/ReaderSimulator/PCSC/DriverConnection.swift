import EventLoop
import Glibc
import Names

struct DriverConnection {
  /// What the connection is for.
  enum Purpose: Hashable {
    /// The driver has not said yet. Can transition to: `.requests`, `.events`.
    case unknown
    /// The driver sends requests for a slot.
    case requests(CardSlotID)
    /// The driver waits for insertions and removals in a slot.
    case events(CardSlotID)
  }

  let descriptor: FileDescriptor
  let watch: DescriptorWatch
  var purpose = Purpose.unknown
  var decoder = DriverRequestDecoder()

  /// The bytes that have arrived, empty if there are none; nil if the driver has closed the connection.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count > 0 { return Array(buffer[..<count]) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
  }

  /// Returns false if the driver is gone, or does not read the bytes.
  func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == bytes.count
  }
}

/// The first byte of a frame from the driver in pcscd. The driver's header, CSimulatedIFD.h, describes the frames.
enum DriverOperation: UInt8 {
  case openRequests = 0x01
  case openEvents = 0x02
  case presence = 0x10
  case power = 0x11
  case transmit = 0x12
  case control = 0x13
  case capability = 0x14
}

/// The response codes of a driver (pcsc-lite, ifdhandler.h).
enum DriverResponse: UInt16 {
  case success = 0
  case unknownTag = 600
  case powerUpFailed = 608
  case communicationError = 612
  case timeout = 613
  case notSupported = 614
  case cardPresent = 615
  case cardAbsent = 616
  case noSuchDevice = 617
}

/// The actions of a power request (pcsc-lite, ifdhandler.h).
enum DriverPowerAction: UInt16 {
  case powerUp = 500
  case powerDown = 501
  case reset = 502
}

struct DriverAnswer: Hashable {
  let response: DriverResponse
  let data: [UInt8]

  static func success(_ data: [UInt8] = []) -> DriverAnswer { DriverAnswer(response: .success, data: data) }

  static func failure(_ response: DriverResponse) -> DriverAnswer { DriverAnswer(response: response, data: []) }

  var frame: [UInt8] {
    BigEndian.bytes(UInt32(truncatingIfNeeded: data.count + 2)) + BigEndian.bytes(response.rawValue) + data
  }
}

extension DriverAnswer {
  /// The answer with which pcscd gives its client what it gave when this was recorded (pcsc-lite, ifdwrapper.c). If the
  /// card was removed or reset, pcscd did not ask its driver.
  init(_ recorded: TraceLine.Exchange) {
    switch recorded.result.map({ UInt32(truncatingIfNeeded: $0) }) {
    case nil: self = .success(recorded.answer ?? [])
    case 0x8010_000C: self = .failure(.cardAbsent)
    case 0x8010_0017: self = .failure(.noSuchDevice)
    case 0x8010_001F, 0x8010_0022: self = .failure(.notSupported)
    default: self = .failure(.communicationError)
    }
  }
}

/// Numbers with the highest byte first.
enum BigEndian {
  static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

/// Joins the bytes of a connection into requests.
struct DriverRequestDecoder {
  /// More than any request holds. The longest is an extended APDU.
  private static let maximumLength = 1 << 17

  /// Whether a request was too long. The connection cannot be used any more.
  private(set) var isBroken = false
  private var buffer: [UInt8] = []

  mutating func append(_ bytes: [UInt8]) { buffer += bytes }

  /// The next request without its length; nil if it is not complete.
  mutating func next() -> [UInt8]? {
    guard !isBroken, buffer.count >= 4 else { return nil }
    let length = BigEndian.number(buffer[..<4])
    guard length > 0, length <= Self.maximumLength else {
      isBroken = true
      return nil
    }
    guard buffer.count >= 4 + length else { return nil }
    let request = Array(buffer[4..<(4 + length)])
    buffer.removeFirst(4 + length)
    return request
  }
}

enum ListeningSocket {
  private static let backlog: Int32 = 64

  /// Creates a stream socket at `path`, and replaces a file that is there. Fails if the path is too long for a socket
  /// or its directory does not exist.
  static func create(at path: String, mode: mode_t) throws(SimulatorError) -> FileDescriptor {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SimulatorError("\(path): too long for a socket")
    }
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SimulatorError(SystemError("open a socket").description) }
    let descriptor = FileDescriptor(owning: number)
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    unlink(path)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw SimulatorError(SystemError("bind the socket \(path)").description) }
    chmod(path, mode)
    guard listen(number, backlog) == 0 else {
      throw SimulatorError(SystemError("listen on the socket \(path)").description)
    }
    return descriptor
  }
}
