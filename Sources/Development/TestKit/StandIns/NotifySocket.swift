import EventLoop
import Glibc
import Rig

/// The socket on which a service reports to systemd, one message per datagram.
package final class NotifySocket: Sendable {
  private let messages: AsyncStream<String>
  private let watch: DescriptorWatch
  private let loop = EventLoop(label: "notify")

  /// Creates the socket at a path, as in `NOTIFY_SOCKET`.
  package init(_ path: String) throws {
    let descriptor = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw SystemError("bind \(path)") }
    let (messages, continuation) = AsyncStream.makeStream(of: String.self)
    self.messages = messages
    watch = try DescriptorWatch(descriptor, on: loop) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { continuation.yield(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
  }

  /// The next message that `matches` accepts. Skips all others before it.
  package func next(where matches: (String) -> Bool) async throws -> String {
    for await message in messages where matches(message) { return message }
    throw RigError("systemd was not told")
  }
}
