import EventLoop
import ReaderSimulator
import Rig
import Tags
import Testing

@testable import Reader

/// Debian's own tools, each on a reader of its own. What each says of what we wrote to a tag, and whether we read what it wrote:
///
/// | Tool | reads what we wrote | we read what it wrote |
/// |---|---|---|
/// | nfc-mfultralight | `Type2RefereeTests` | `Type2RefereeTests` |
/// | nfc-jewel | `Type1RefereeTests` | `Type1RefereeTests` |
/// | nfc-read-forum-tag3 | `Type3RefereeTests` | writes nothing |
/// | mifare-desfire-read-ndef | `Type4RefereeTests` | writes nothing |
/// | mifare-classic-read-ndef, -write-ndef, -format | `MIFAREClassicRefereeTests` | `MIFAREClassicRefereeTests` |
/// | nfc-list, nfc-poll | read no memory: what they find is in the simulator's own tests | |
///
/// (mifare-desfire-create-ndef and -write-ndef need the card's keys, with which the simulated DESFire does not let anybody
/// in.)
enum Referee {
  /// Runs a program on a reader on which the tag lies.
  ///
  /// - Parameters:
  ///   - program: one of `/usr/bin`.
  ///   - arguments: its arguments.
  ///   - tag: the tag.
  ///   - input: what it is told where it asks.
  ///   - starter: the function on whose behalf it runs, which names the log.
  /// - Returns: what it printed, with single spaces; the tag, and what is in its memory.
  /// - Throws: where it cannot be run, or ends with an error.
  static func run(
    _ program: String, _ arguments: [String], on tag: SimulatedTag, input: String = "", starter: String = #function
  ) async throws -> (output: String, tag: SimulatedTag, memory: [UInt8]) {
    let (result, tag, memory) = try await ending(program, arguments, on: tag, input: input, starter: starter)
    try #require(result.status == .exited(0), "\(result.log)")
    return (result.output.split(whereSeparator: \.isWhitespace).joined(separator: " "), tag, memory)
  }

  /// The same, for a program that may well end with an error.
  static func ending(
    _ program: String, _ arguments: [String], on tag: SimulatedTag, input: String = "", starter: String = #function
  ) async throws -> (
    result: (status: ChildProcess.ExitStatus, output: String, log: [String]), tag: SimulatedTag, memory: [UInt8]
  ) {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(tag)
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    let command = "printf '\(input)' | \"$0\" \"$@\""
    let result = try await ChildProcess.run(
      "/bin/sh", ["-c", command, "/usr/bin/\(program)"] + arguments, environment: environment,
      starter: starter)
    let memory = await reader.memory(of: id)
    let changed = await reader.remove(id)
    await reader.stop()
    return (result, try #require(changed), try #require(memory))
  }

  /// The tag once our writer has written a message to it.
  static func written(
    _ message: [UInt8], to tag: SimulatedTag, _ modulation: Modulation
  ) async throws -> (tag: SimulatedTag, memory: [UInt8]) {
    try await withOpenReader { reader in
      let attempt = try reader.attempt(on: tag, modulation, nil) { try $0.tag.writeNDEF(message, over: &$0) }
      if let failure = attempt.failure { throw failure }
      return (attempt.tag, reader.memory(of: attempt.tag))
    }
  }

  /// What our reader says is on the tag.
  static func content(of tag: SimulatedTag, _ modulation: Modulation) async throws -> TagContent {
    try await withOpenReader { reader in
      try reader.withTag(tag, modulation) { try $0.tag.readNDEF(over: &$0) }
    }
  }
}
