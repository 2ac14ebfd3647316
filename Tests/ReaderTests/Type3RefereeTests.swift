import EventLoop
import ReaderSimulator
import Rig
import Tags
import Testing

@testable import Reader

/// Debian's nfc-read-forum-tag3 reads what we wrote.
@Suite(.serialized, .timeLimit(.minutes(5))) struct Type3RefereeTests {
  /// It asks for length / 16 + 1 blocks and leaves out what Nbr does not divide: that is nothing with one block at a time, nor
  /// where one answer has them all. Behind the blocks of each answer it writes two bytes that are nobody's, and cuts the whole
  /// to the length.
  @Test(
    arguments: [
      (Type3Options.Model.liteS, 4, 50), (.liteS, 4, 63), (.liteS, 1, 4), (.liteS, 1, 200), (.standard, 12, 190),
      (.standard, 1, 500), (.standardWithSeveralSystems, 12, 176), (.standardWithSeveralSystems, 1, 900),
    ])
  func whatWeWroteIsRead(model: Type3Options.Model, mostRead: Int, size: Int) async throws {
    let message = ndefMessage(ofSize: size)
    var options = Type3Options(model)
    options.maximumRead = mostRead
    let tag = try SimulatedTag.type3(message: ndefMessage(ofSize: 30, filledWith: 0x42), options: options)
    let written = try await Referee.written(message, to: tag, .felica424).tag
    let output = try #require(await read(written))
    let (blocks, answer) = (mostRead * 16, mostRead * 16 + 2)
    try #require(output.count == size)
    let isOurs = output.indices.allSatisfy {
      $0 % answer >= blocks || output[$0] == message[$0 / answer * blocks + $0 % answer]
    }
    #expect(isOurs, "\(output)")
  }

  @Test func whatHoldsNoMessageIsNotRead() async throws {
    #expect(try await read(try .type3(message: [])) == nil)
    #expect(try await read(try .transitCard()) == nil)
  }

  /// - Returns: what the tool wrote to its file; nil where it ends with an error.
  private func read(_ tag: SimulatedTag) async throws -> [UInt8]? {
    let directory = try TemporaryDirectory()
    let file = directory.file("message")
    let result = try await Referee.ending("nfc-read-forum-tag3", ["-o", file], on: tag).result
    return result.status == .exited(0) ? try readFile(file) : nil
  }
}
