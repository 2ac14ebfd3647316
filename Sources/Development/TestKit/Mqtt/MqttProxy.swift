import Glibc
import Rig

/// A TCP proxy in front of a broker, which breaks connections at chosen places: `mqtt-proxy.py`, which documents the
/// commands and the events.
package final class MqttProxy: Sendable {
  /// The port on 127.0.0.1, chosen by the kernel.
  package let port: String
  private let process: ChildProcess

  /// Starts a proxy for the broker at a Unix socket. `starter` names the log.
  package init(to socket: String, starter: String = #function) async throws {
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/mqtt-proxy.py"
    process = try ChildProcess("/usr/bin/python3", [script, socket], input: true, starter: starter)
    port = String(try await process.line { $0.hasPrefix("port ") }.dropFirst("port ".count))
    atEndOfTest { [process] in try await process.exit(after: SIGKILL) }
  }

  /// Gives a command, and returns once it is in force. The result is the position in the log before it, for
  /// ``event(_:after:)``.
  @discardableResult
  package func command(_ command: String) async throws -> Int {
    let seen = await mark()
    try await process.send(command)
    _ = try await process.line(after: seen) { $0 == "ok \(command)" }
    return seen
  }

  /// The present position in the log.
  package func mark() async -> Int { await process.log().count }

  /// Waits for an event with this beginning, after a position in the log.
  package func event(_ beginning: String, after mark: Int) async throws {
    _ = try await process.line(after: mark) { $0.hasPrefix(beginning) }
  }

  /// Waits until `count` events with this beginning have come after a position in the log.
  package func events(_ beginning: String, count: Int, after mark: Int) async throws {
    let left = Countdown(count)
    _ = try await process.line(after: mark) { $0.hasPrefix(beginning) && left.next() == 0 }
  }
}
