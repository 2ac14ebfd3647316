import EventLoop
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

/// Runs Debian's NFC tools, each on its own simulated reader. They show that other programs can read our messages, and
/// that we can read theirs.
///
/// | Tool | reads our messages | writes messages for us |
/// |---|---|---|
/// | nfc-mfultralight | `Type2RefereeTests` | `Type2RefereeTests` |
/// | nfc-jewel | `Type1RefereeTests` | `Type1RefereeTests` |
/// | nfc-read-forum-tag3 | `Type3RefereeTests` | writes nothing |
/// | mifare-desfire-read-ndef | `Type4RefereeTests` | writes nothing |
/// | mifare-classic-read-ndef, -write-ndef, -format | `MIFAREClassicRefereeTests` | `MIFAREClassicRefereeTests` |
/// | nfc-list, nfc-poll | read no memory, see the tests of the simulator | |
///
/// There are no tests with mifare-desfire-create-ndef and -write-ndef. The simulated DESFire supports only those native
/// commands that read a message.
enum Referee {
  /// Runs a program with the tag on its reader.
  ///
  /// - Parameters:
  ///   - program: The name of a program in `/usr/bin`.
  ///   - arguments: The program's arguments.
  ///   - tag: The tag.
  ///   - input: The answers to the program's questions.
  ///   - starter: The test function. It names the log.
  /// - Returns: The output with single spaces, the tag, and the tag's memory.
  /// - Throws: An error if the program cannot be run or fails.
  static func run(
    _ program: String, _ arguments: [String], on tag: SimulatedTag, input: String = "", starter: String = #function
  ) async throws -> (output: String, tag: SimulatedTag, memory: [UInt8]) {
    let (result, tag, memory) = try await ending(program, arguments, on: tag, input: input, starter: starter)
    try #require(result.status == .exited(0), "\(result.log)")
    return (result.output.split(whereSeparator: \.isWhitespace).joined(separator: " "), tag, memory)
  }

  /// The same for a program that may fail.
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

  /// Writes a message with our writer. Returns the tag and its memory.
  static func written(
    _ message: [UInt8], to tag: SimulatedTag, _ modulation: Modulation
  ) throws -> (tag: SimulatedTag, memory: [UInt8]) {
    let attempt = try OpenReader().attempt(on: tag, modulation) { try $0.tag.writeNDEF(message, over: &$0) }
    if let failure = attempt.failure { throw failure }
    return (attempt.tag, attempt.tag.memory)
  }

  /// Reads the tag with our reader.
  static func content(of tag: SimulatedTag, _ modulation: Modulation) throws -> TagContent {
    try OpenReader().withTag(tag, modulation) { try $0.tag.readNDEF(over: &$0) }
  }
}
