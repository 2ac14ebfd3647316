import EventLoop
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

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

  /// - Returns: The bytes that the tool wrote to its file; nil if it fails.
  private func read(_ tag: SimulatedTag) async throws -> [UInt8]? {
    let directory = try TemporaryDirectory()
    let file = directory.file("message")
    let result = try await Referee.ending("nfc-read-forum-tag3", ["-o", file], on: tag).result
    return result.status == .exited(0) ? try readFile(file) : nil
  }
}
