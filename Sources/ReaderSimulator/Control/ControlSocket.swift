import EventLoop
import Glibc

/// A UNIX stream socket that only its owner may connect to.
struct ControlSocket: Sendable {
  private static let backlog: Int32 = 16

  let path: String
  private let listener: FileDescriptor

  /// Replaces a leftover socket. A file of another type at that path is kept.
  ///
  /// - Throws: `SimulatorError` if the path is too long or taken.
  init(_ path: String) throws(SimulatorError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8) + [0]
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
      throw SimulatorError("\(path): too long for a socket's path")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw SimulatorError("\(path): exists and is not a socket") }
      unlink(path)
    }
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SimulatorError("\(path): \(SystemError("make a socket"))") }
    listener = FileDescriptor(owning: number)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw SimulatorError("\(path): \(SystemError("bind a socket"))") }
    // No client can connect before `listen`, so the mode is set in time.
    guard chmod(path, 0o600) == 0, listen(number, Self.backlog) == 0 else {
      throw SimulatorError("\(path): \(SystemError("listen on a socket"))")
    }
    self.path = path
  }

  /// The incoming connections, until `close`.
  ///
  /// - Throws: `SystemError` if no thread can be started.
  func connections() throws(SystemError) -> AsyncStream<ControlChannel> {
    let (stream, continuation) = AsyncStream.makeStream(of: ControlChannel.self)
    let listener = listener
    try DedicatedThread.start {
      while true {
        let number = accept(listener.rawValue, nil, nil)
        if number < 0 {
          if errno == EINTR || errno == ECONNABORTED { continue }
          break
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        let connection = FileDescriptor(owning: number)
        continuation.yield(ControlChannel(input: connection, output: connection))
      }
      continuation.finish()
    }
    return stream
  }

  /// Ends `connections` and removes the socket.
  func close() {
    shutdown(listener.rawValue, Int32(SHUT_RDWR))
    unlink(path)
  }
}
