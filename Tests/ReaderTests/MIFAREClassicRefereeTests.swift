import EventLoop
import ReaderSimulator
import Rig
import Tags
import Testing

@testable import Reader

/// libfreefare reads what we wrote to a MIFARE Classic, and we read what it wrote.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MIFAREClassicRefereeTests {
  private static let uid: [UInt8] = [0xC0, 0x01, 0x02, 0x03]
  /// Where sector 15 belongs to NDEF they take 16, the directory's, for one too, and fail.
  private static let sectors = Array(1...14)

  /// Runs one of libfreefare's tools on a reader of its own with that tag, and takes the tag's memory back.
  private func run(_ tool: String, _ arguments: [String], on tag: SimulatedTag) async throws -> [UInt8] {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(tag)
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    let result = try await ChildProcess.run("/usr/bin/\(tool)", arguments, environment: environment)
    try #require(result.status == .exited(0), "\(result.log)")
    let memory = await reader.memory(of: id)
    await reader.stop()
    return try #require(memory)
  }

  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K], [20, 46, 254, 255, 660])
  func theyReadWhatWeWrote(model: MIFAREClassicModel, size: Int) async throws {
    let message = ndefMessage(ofSize: size)
    let memory = try await withOpenReader { reader in
      let id = reader.place(try .mifareClassic(model, message: [], uid: .fixed(Self.uid), sectors: Self.sectors))
      var channel = try reader.select(.typeA)
      try channel.tag.writeNDEF(message, over: &channel)
      return reader.memory(of: id) ?? []
    }
    let directory = try TemporaryDirectory()
    let file = directory.file("message")
    _ = try await run("mifare-classic-read-ndef", ["-y", "-o", file], on: .mifareClassic(model, memory: memory))
    #expect(try readFile(file) == message)
  }

  /// On a tag as it leaves the factory, and on one that holds a message already: there they take key B to be D3F7….
  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K], [true, false])
  func weReadWhatTheyWrote(model: MIFAREClassicModel, isBlank: Bool) async throws {
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
    let memory = try await run("mifare-classic-write-ndef", ["-y", "-i", file], on: tag)
    try await withOpenReader { reader in
      let id = reader.place(try .mifareClassic(model, memory: memory))
      var channel = try reader.select(.typeA)
      #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
      // Its key B is one that everybody knows.
      try channel.tag.lockNDEF(over: &channel)
      channel = try reader.select(.typeA)
      #expect(try channel.tag.queryNDEF(over: &channel).access == .readOnly)
      #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
      _ = reader.remove(id)
    }
  }
}
