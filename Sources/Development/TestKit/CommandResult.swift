import Foundation
import Rig
import Testing

/// A run of `tagroute` that has ended.
package struct CommandResult: Sendable {
  package let status: ChildProcess.ExitStatus
  /// Standard output only; `log` has both.
  package let output: String
  /// All lines that it printed.
  package let log: [String]

  /// The lines that are not on the standard output.
  package var errors: [String] {
    let lines = Set(output.split(separator: "\n").map(String.init))
    return log.filter { !lines.contains($0) }
  }

  /// Throws if the standard output is not JSON.
  package func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
}

extension Installation {
  /// Runs `tagroute` until it ends.
  package nonisolated func tagroute(_ arguments: [String]) async throws -> CommandResult {
    let process = try await start("tagroute", arguments)
    let status = try await process.exit()
    return CommandResult(status: status, output: await process.standardOutput(), log: await process.log())
  }

  package nonisolated func tagroute(_ arguments: String...) async throws -> CommandResult {
    try await tagroute(arguments)
  }

  /// The standard output of a run of `tagroute`, which has to succeed.
  package nonisolated func output(_ arguments: String...) async throws -> String {
    let result = try await tagroute(arguments)
    #expect(result.status == .exited(0), "\(result.log)")
    return result.output
  }

  /// The JSON that `tagroute` prints, which has to succeed. This adds `--json`.
  package nonisolated func json(_ arguments: String...) async throws -> Any {
    let result = try await tagroute(arguments + ["--json"])
    #expect(result.status == .exited(0), "\(result.log)")
    return try result.json()
  }

  /// The same for one object.
  package nonisolated func object(_ arguments: String...) async throws -> [String: Any] {
    let result = try await tagroute(arguments + ["--json"])
    #expect(result.status == .exited(0), "\(result.log)")
    return try #require(try result.json() as? [String: Any])
  }
}
