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
