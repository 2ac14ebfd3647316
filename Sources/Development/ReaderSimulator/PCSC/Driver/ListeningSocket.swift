import EventLoop
import Glibc

/// UNIX sockets that listen.
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
