import ReaderSimulator
import TestKit
import Testing

/// `tag-writer` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5))) struct TagWriterTests {
  /// What a tag has from page 4 on: an NDEF TLV with the message, and a terminator TLV.
  private static func area(_ message: [UInt8]) -> [UInt8] { [0x03, UInt8(message.count)] + message + [0xFE] }

  /// The arguments of a run, and the message that they lead to.
  private static let runs: [String: ([String], [UInt8])] = [
    "link": (["https://example.com/menu"], [0xD1, 0x01, 0x11, 0x55, 0x04] + Array("example.com/menu".utf8)),
    "text": (["--text", "Hello"], [0xD1, 0x01, 0x08, 0x54, 0x02] + Array("enHello".utf8)),
  ]

  @Test(arguments: ["link", "text"]) func `a message is written to a tag`(kind: String) async throws {
    let rig = try await AppRig(starter: "`a message is written to a tag`_\(kind)")
    let (arguments, message) = try #require(Self.runs[kind])
    let tag = await rig.reader.place(try .type2(.ntag215, message: []))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("tag-writer", arguments)
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["Wrote \(message.count) bytes."])
    let after = try await rig.memory(of: tag)
    let area = Self.area(message)
    #expect(Array(after[16..<16 + area.count]) == area)
    #expect(after[..<16] == before[..<16])
    await rig.stop()
  }

  @Test func `a message that is too long leaves the tag as it is`() async throws {
    let rig = try await AppRig()
    let tag = await rig.reader.place(try .type2(.ntag210Micro, message: []))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("tag-writer", ["--text", String(repeating: "a", count: 50)])
    #expect(status == .exited(1))
    #expect(log == ["The message has 57 bytes, and the tag holds only 46."])
    #expect(try await rig.memory(of: tag) == before)
    await rig.stop()
  }

  @Test func `a program without an argument explains its use`() async throws {
    let (status, output, _) = try await ChildProcess.run(BuiltProducts.program("tag-writer"))
    #expect(status == .exited(64))
    #expect(output == "usage: tag-writer LINK, or tag-writer --text TEXT\n")
  }
}
