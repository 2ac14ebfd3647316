/// Another client of pcscd, in a separate process: pyscard, driven line by line.
///
/// It is the referee for simulated readers, and the foreign program beside a daemon that holds a card or resets it.
/// `pcsc-client.py` lists its commands.
package struct PCSCClient: Sendable {
  private let process: ChildProcess

  /// Connects to pcscd. `socket` is the path of its socket, `starter` names the log.
  package init(socket: String, starter: String = #function) async throws {
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/pcsc-client.py"
    // Debian's own interpreter, because the package python3-pyscard is only for that.
    process = try ChildProcess(
      "/usr/bin/python3", [script],
      environment: ["PATH": "/usr/bin:/bin", "PCSCLITE_CSOCK_NAME": socket], input: true, starter: starter)
    try await process.line(containing: "ready")
  }

  /// Returns the answer to a command. Fails with the name of the error, for example `SCARD_W_REMOVED_CARD`.
  @discardableResult package func ask(_ command: String) async throws -> String {
    let answer = try await answer(to: command)
    guard answer.hasPrefix("ok ") else { throw RigError("\(command): \(answer)") }
    return String(answer.dropFirst(3))
  }

  /// Returns the name of the error with which a command fails, for example `SCARD_W_REMOVED_CARD`; nil if it succeeds.
  package func error(of command: String) async throws -> String? {
    let answer = try await answer(to: command)
    return answer.hasPrefix("failed: ") ? String(answer.dropFirst(8)) : nil
  }

  /// The answer of the card or the reader to a command, in hexadecimal digits.
  package func transmit(_ command: String) async throws -> String { try await ask("transmit \(command)") }

  /// Sends a command without waiting for its answer, for one that blocks. Returns what `answer(after:)` needs.
  package func send(_ command: String) async throws -> Int {
    let seen = await process.log().count
    try await process.send(command)
    return seen
  }

  /// The answer to a command that `send` has sent: `ok …` or `failed: …`.
  package func answer(after seen: Int) async throws -> String {
    try await process.line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("failed") }
  }

  private func answer(to command: String) async throws -> String { try await answer(after: try await send(command)) }
}
