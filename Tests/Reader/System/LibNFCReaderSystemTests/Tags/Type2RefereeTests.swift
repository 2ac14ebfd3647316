import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

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
