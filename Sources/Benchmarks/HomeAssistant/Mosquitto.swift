import EventLoop
import Glibc
import Rig

/// A real MQTT broker on a port of the loopback interface, for clients without a password. Its log names every packet.
struct Mosquitto {
  let port: UInt16
  let process: ChildProcess

  /// Starts a broker that keeps its file in `directory`. Returns when it listens.
  static func start(in directory: TemporaryDirectory) async throws -> Mosquitto {
    let program = try BuiltProducts.systemProgram("mosquitto", package: "mosquitto")
    let port = try freePort()
    let file = try directory.write(
      "listener \(port) 127.0.0.1\nallow_anonymous true\nlog_type all\n", to: "mosquitto.conf")
    let process = try ChildProcess(program, ["-c", file])
    // "mosquitto version 2.0.11 running"
    try await process.line { $0.hasSuffix(" running") }
    return Mosquitto(port: port, process: process)
  }

  /// Removes the retained message of each topic.
  func forget(_ topics: [String]) async throws {
    let program = try BuiltProducts.systemProgram("mosquitto_pub", package: "mosquitto-clients")
    for topic in topics {
      let result = try await ChildProcess.run(
        program, ["-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-r", "-n", "-t", topic])
      guard result.status == .exited(0) else { throw RigError("mosquitto_pub: \(result.log.joined(separator: "\n"))") }
    }
  }

  /// A port that was free a moment ago. Mosquitto cannot let the kernel choose one.
  private static func freePort() throws -> UInt16 {
    let descriptor = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor.rawValue, pointer, length) == 0 && getsockname(descriptor.rawValue, pointer, &length) == 0
      }
    }
    guard found else { throw SystemError("find a free port") }
    return UInt16(bigEndian: name.sin_port)
  }
}
