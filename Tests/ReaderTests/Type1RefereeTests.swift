import EventLoop
import ReaderSimulator
import Rig
import Tags
import Testing

@testable import Reader

/// Debian's nfc-jewel reads what we wrote, and we read what it wrote.
@Suite(.serialized, .timeLimit(.minutes(3))) struct Type1RefereeTests {
  private static let uid: [UInt8] = [0x38, 0x01, 0x9A, 0x00, 0x00, 0x00, 0x25]
  private let message = ndefMessage(ofSize: 70)

  /// Runs a program on a reader of its own on which the tag lies.
  ///
  /// - Returns: what the program printed, and the tag.
  private func run(
    _ program: String, _ arguments: [String], on tag: SimulatedTag
  ) async throws -> (output: String, tag: SimulatedTag) {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(tag)
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    let result = try await ChildProcess.run(program, arguments, environment: environment)
    try #require(result.status == .exited(0), "\(result.log)")
    let changed = await reader.remove(id)
    await reader.stop()
    return (result.output.split(whereSeparator: \.isWhitespace).joined(separator: " "), try #require(changed))
  }

  @Test func aTopazIsListed() async throws {
    let tag = try SimulatedTag.type1(.topaz96, message: message, uid: .fixed(Self.uid))
    let output = try await run("/usr/bin/nfc-list", ["-v"], on: tag).output
    #expect(output.contains("Jewel passive target(s) found: Innovision Jewel (106 kbps) target:"), "\(output)")
    #expect(output.contains("ATQA (SENS_RES): 0c 00 4-LSB JEWELID: 38 01 9a 00"), "\(output)")
  }

  @Test(arguments: Type1Model.all) func itDumpsWhatWeWrote(model: Type1Model) async throws {
    let directory = try TemporaryDirectory()
    let message = message
    let (tag, memory) = try await withOpenReader { reader in
      let id = reader.place(try .type1(model, message: [], uid: .fixed(Self.uid)))
      var channel = try reader.select(.jewel)
      try channel.tag.writeNDEF(message, over: &channel)
      let memory = reader.memory(of: id)
      return (reader.remove(id), memory)
    }
    _ = try await run("/usr/bin/nfc-jewel", ["r", directory.file("dump.jwd")], on: try #require(tag))
    let dump = try readFile(directory.file("dump.jwd"))
    #expect(dump == memory.map { Array($0[..<120]) })
    #expect(dump.count == 120)
    let length = UInt8(message.count)
    let start = model == .topaz96 ? 12 : 22
    #expect(Array(dump[start...].prefix(message.count + 3)) == [0x03, length] + message + [0xFE])
  }

  @Test func weReadWhatItWrote() async throws {
    let directory = try TemporaryDirectory()
    let message = message
    let image = try await withOpenReader { reader in
      let id = reader.place(try .type1(.topaz96, message: message))
      return reader.memory(of: id) ?? []
    }
    let file = try directory.write(image, to: "image.jwd")
    // It asks whether lock bits and OTP bytes are to be written, too.
    let command = "printf 'n\\nn\\n' | /usr/bin/nfc-jewel w \"$0\""
    let blank = try SimulatedTag.type1(.topaz96, memory: Self.uid)
    let (output, tag) = try await run("/bin/sh", ["-c", command, file], on: blank)
    let content = try await withOpenReader { reader in
      _ = reader.place(tag)
      var channel = try reader.select(.jewel)
      return try channel.tag.readNDEF(over: &channel)
    }
    #expect(content == .message(message), "\(output)")
  }
}
