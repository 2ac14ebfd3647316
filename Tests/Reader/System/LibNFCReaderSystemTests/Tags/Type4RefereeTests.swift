import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

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
