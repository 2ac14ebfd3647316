import EventLoop
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

/// libfreefare reads messages that Tagroute wrote to a MIFARE Classic, and Tagroute reads messages of libfreefare.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MIFAREClassicRefereeTests {
  private static let uid: [UInt8] = [0xC0, 0x01, 0x02, 0x03]
  /// Without sector 15. If it holds NDEF, libfreefare takes the directory in sector 16 for NDEF, too, and fails.
  private static let sectors = Array(1...14)

  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K], [20, 46, 254, 255, 660])
  func `libfreefare reads a message that Tagroute wrote`(model: MIFAREClassicModel, size: Int) async throws {
    let message = ndefMessage(ofSize: size)
    let empty = try SimulatedTag.mifareClassic(model, message: [], uid: .fixed(Self.uid), sectors: Self.sectors)
    let tag = try Referee.written(message, to: empty, .typeA).tag
    let directory = try TemporaryDirectory()
    let file = directory.file("message")
    _ = try await Referee.run("mifare-classic-read-ndef", ["-y", "-o", file], on: tag)
    #expect(try readFile(file) == message)
  }

  /// On a tag in its factory state, and on a tag with a message. For the latter, libfreefare assumes the key B D3F7….
  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K], [true, false])
  func `Tagroute reads and locks a tag that libfreefare wrote`(model: MIFAREClassicModel, isBlank: Bool) async throws {
    let size = 40
    let message = ndefMessage(ofSize: size)
    let directory = try TemporaryDirectory()
    let file = try directory.write(message, to: "message")
    let keyB: [UInt8] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]
    let tag: SimulatedTag =
      isBlank
      ? try .mifareClassicBlank(model, uid: .fixed(Self.uid))
      : try .mifareClassic(
        model, message: ndefMessage(ofSize: 90), uid: .fixed(Self.uid), keyB: keyB, sectors: Self.sectors)
    let memory = try await Referee.run("mifare-classic-write-ndef", ["-y", "-i", file], on: tag).memory
    let reader = try OpenReader()
    _ = reader.place(try .mifareClassic(model, memory: memory))
    var channel = try reader.select(.typeA)
    #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
    // Its key B is public.
    try channel.tag.lockNDEF(over: &channel)
    channel = try reader.select(.typeA)
    #expect(try channel.tag.queryNDEF(over: &channel).access == .readOnly)
    #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
  }

  /// Tagroute then reads the message that libfreefare writes to the formatted tag.
  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K])
  func `libfreefare formats a tag that Tagroute wrote`(model: MIFAREClassicModel) async throws {
    let directory = try TemporaryDirectory()
    let empty = try SimulatedTag.mifareClassic(model, message: [], uid: .fixed(Self.uid), sectors: Self.sectors)
    let tag = try Referee.written(ndefMessage(ofSize: 90), to: empty, .typeA).tag
    let formatted = try await Referee.run("mifare-classic-format", ["-y"], on: tag).tag
    #expect(problem(of: try Referee.content(of: formatted, .typeA))?.hasPrefix("not NDEF: ") == true)
    let message = ndefMessage(ofSize: 60)
    let file = try directory.write(message, to: "message")
    let again = try await Referee.run("mifare-classic-write-ndef", ["-y", "-i", file], on: formatted).tag
    #expect(try Referee.content(of: again, .typeA) == .message(message))
  }
}

/// Debian's nfc-jewel reads our messages, and we read the messages that it writes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct Type1RefereeTests {
  private static let uid: [UInt8] = [0x38, 0x01, 0x9A, 0x00, 0x00, 0x00, 0x25]
  private let message = ndefMessage(ofSize: 70)

  @Test func `nfc-list finds a Topaz tag`() async throws {
    let tag = try SimulatedTag.type1(.topaz96, message: message, uid: .fixed(Self.uid))
    let output = try await Referee.run("nfc-list", ["-v"], on: tag).output
    #expect(output.contains("Jewel passive target(s) found: Innovision Jewel (106 kbps) target:"), "\(output)")
    #expect(output.contains("ATQA (SENS_RES): 0c 00 4-LSB JEWELID: 38 01 9a 00"), "\(output)")
  }

  @Test(arguments: Type1Model.all) func `nfc-jewel dumps a message that we wrote`(model: Type1Model) async throws {
    let directory = try TemporaryDirectory()
    let message = message
    let empty = try SimulatedTag.type1(model, message: [], uid: .fixed(Self.uid))
    let (tag, memory) = try Referee.written(message, to: empty, .jewel)
    _ = try await Referee.run("nfc-jewel", ["r", directory.file("dump.jwd")], on: tag)
    let dump = try readFile(directory.file("dump.jwd"))
    #expect(dump == Array(memory[..<120]))
    #expect(dump.count == 120)
    let length = UInt8(message.count)
    let start = model == .topaz96 ? 12 : 22
    #expect(Array(dump[start...].prefix(message.count + 3)) == [0x03, length] + message + [0xFE])
  }

  @Test func `we read a message that nfc-jewel wrote`() async throws {
    let directory = try TemporaryDirectory()
    let message = message
    let image = try SimulatedTag.type1(.topaz96, message: message).memory
    let file = try directory.write(image, to: "image.jwd")
    // The tool asks whether to write lock bits and OTP bytes, too.
    let blank = try SimulatedTag.type1(.topaz96, memory: Self.uid)
    let (output, tag, _) = try await Referee.run("nfc-jewel", ["w", file], on: blank, input: "n\\nn\\n")
    #expect(try Referee.content(of: tag, .jewel) == .message(message), "\(output)")
  }
}

/// Debian's nfc-mfultralight reads our messages, and we read the messages that it writes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct Type2RefereeTests {
  /// The arguments are the models that the tool supports.
  @Test(
    arguments: [
      (.ultralight, 40), (.ultralightEV1, 30), (.ultralightEV1Large, 100), (.ntag210, 30), (.ntag212, 100),
      (.ntag213, 100), (.ntag215, 300), (.ntag216, 700),
    ] as [(SimulatedType2Model, Int)])
  func `nfc-mfultralight dumps a message that we wrote`(model: SimulatedType2Model, size: Int) async throws {
    let directory = try TemporaryDirectory()
    let message = ndefMessage(ofSize: size)
    let (tag, memory) = try Referee.written(message, to: try .type2(model, message: []), .typeA)
    _ = try await Referee.run("nfc-mfultralight", ["r", directory.file("dump.mfd")], on: tag)
    let dump = try readFile(directory.file("dump.mfd"))
    let length = size < 0xFF ? [UInt8(size)] : [0xFF, UInt8(size >> 8), UInt8(size & 0xFF)]
    // The dump has the message once, at its address on the tag.
    let place = try #require(memory.firstRange(of: [0x03] + length + message))
    #expect(dump.ranges(of: [0x03] + length + message) == [place])
  }

  @Test(arguments: [3, 12, 46]) func `we read a message that nfc-mfultralight wrote`(size: Int) async throws {
    let directory = try TemporaryDirectory()
    let message = ndefMessage(ofSize: size)
    let image = try SimulatedTag.type2(.ultralight, message: message).memory
    let file = try directory.write(image, to: "image.mfd")
    let blank = try SimulatedTag.type2(.ultralight, message: ndefMessage(ofSize: 30, filledWith: 0x42))
    // The tool asks whether to write OTP bytes, lock bytes and the UID, too.
    let (output, tag, _) = try await Referee.run("nfc-mfultralight", ["w", file], on: blank, input: "n\\nn\\nn\\n")
    #expect(try Referee.content(of: tag, .typeA) == .message(message), "\(output)")
  }
}

/// Debian's nfc-read-forum-tag3 reads our messages.
@Suite(.serialized, .timeLimit(.minutes(5))) struct Type3RefereeTests {
  /// The tool requests length / 16 + 1 blocks and leaves out the remainder of a division by Nbr. There is no remainder
  /// with one block at a time, or if one answer holds all blocks. After the blocks of each answer, the tool writes two
  /// extra bytes. It then truncates the output to the length.
  @Test(arguments: [
    (Type3Options.Model.liteS, 4, 50), (.liteS, 4, 63), (.liteS, 1, 4), (.liteS, 1, 200), (.standard, 12, 190),
    (.standard, 1, 500), (.standardWithSeveralSystems, 12, 176), (.standardWithSeveralSystems, 1, 900),
  ])
  func `nfc-read-forum-tag3 reads a message that we wrote`(model: Type3Options.Model, mostRead: Int, size: Int)
    async throws
  {
    let message = ndefMessage(ofSize: size)
    var options = Type3Options(model)
    options.maximumRead = mostRead
    let tag = try SimulatedTag.type3(message: ndefMessage(ofSize: 30, filledWith: 0x42), options: options)
    let written = try Referee.written(message, to: tag, .felica424).tag
    let output = try #require(await read(written))
    let (blocks, answer) = (mostRead * 16, mostRead * 16 + 2)
    try #require(output.count == size)
    let isOurs = output.indices.allSatisfy {
      $0 % answer >= blocks || output[$0] == message[$0 / answer * blocks + $0 % answer]
    }
    #expect(isOurs, "\(output)")
  }

  @Test func `nfc-read-forum-tag3 fails if there is no message`() async throws {
    #expect(try await read(try .type3(message: [])) == nil)
    #expect(try await read(try .transitCard()) == nil)
  }

  /// Returns the bytes that the tool wrote to its file; nil if it fails.
  private func read(_ tag: SimulatedTag) async throws -> [UInt8]? {
    let directory = try TemporaryDirectory()
    let file = directory.file("message")
    let result = try await Referee.ending("nfc-read-forum-tag3", ["-o", file], on: tag).result
    return result.status == .exited(0) ? try readFile(file) : nil
  }
}

/// libfreefare's mifare-desfire-read-ndef uses DESFire commands to read messages that we wrote with Type 4 commands.
@Suite(.serialized, .timeLimit(.minutes(5))) struct Type4RefereeTests {
  private func card(_ message: [UInt8]) throws -> SimulatedTag {
    let options = Type4Options { ($0.fileSize, $0.leavesOnRequest) = (600, true) }
    return try .desfire(message: message, uid: .fixed([4, 1, 2, 3, 4, 5, 6]), options: options)
  }

  @Test(arguments: [3, 52, 254, 500])
  func `mifare-desfire-read-ndef reads a message that we wrote`(size: Int) async throws {
    let directory = try TemporaryDirectory()
    let message = ndefMessage(ofSize: size)
    let old = try card(ndefMessage(ofSize: 90, filledWith: 0x42))
    let tag = try Referee.written(message, to: old, .typeA).tag
    let file = directory.file("message")
    let output = try await Referee.run("mifare-desfire-read-ndef", ["-y", "-o", file], on: tag).output
    #expect(output.contains("NDEF size: \(size) bytes"), "\(output)")
    #expect(try readFile(file) == message)
  }
}

/// Runs Debian's NFC tools, each on its own simulated reader. They show that other programs can read our messages, and
/// that we can read theirs.
///
/// | Tool | reads our messages | writes messages for us |
/// |---|---|---|
/// | nfc-mfultralight | `Type2RefereeTests` | `Type2RefereeTests` |
/// | nfc-jewel | `Type1RefereeTests` | `Type1RefereeTests` |
/// | nfc-read-forum-tag3 | `Type3RefereeTests` | no |
/// | mifare-desfire-read-ndef | `Type4RefereeTests` | no |
/// | mifare-classic-read-ndef, -write-ndef, -format | `MIFAREClassicRefereeTests` | `MIFAREClassicRefereeTests` |
/// | nfc-list, nfc-poll | read no memory, see the tests of the simulator | |
///
/// There are no tests with mifare-desfire-create-ndef and -write-ndef. The simulated DESFire supports only those native
/// commands that read a message.
enum Referee {
  /// Runs a program of `/usr/bin` with the tag on its reader. `input` has the answers to the program's questions.
  /// Returns the output with single spaces, the tag, and the tag's memory.
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
