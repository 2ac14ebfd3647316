import EventLoop
import Glibc

/// One connection of the driver in pcscd.
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

  /// Returns false if the driver is gone, or does not read what it asked for.
  func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == bytes.count
  }
}
