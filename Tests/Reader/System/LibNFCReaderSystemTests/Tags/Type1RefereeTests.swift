import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

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
