import ReaderSimulator
import TestKit
import Testing

/// `ultralight-writer` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5))) struct PageWriterTests {
  @Test func `one page is written, and all others stay as they are`() async throws {
    let rig = try await AppRig()
    let tag = await rig.reader.place(try .type2(.ultralightEV1, message: []))
    var expected = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ultralight-writer", ["6", "CAFE0123"])
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["page 6: 00000000", "page 6: CAFE0123"])
    expected.replaceSubrange(24..<28, with: [0xCA, 0xFE, 0x01, 0x23])
    #expect(try await rig.memory(of: tag) == expected)
    await rig.stop()
  }

  @Test func `a locked page is not written`() async throws {
    let rig = try await AppRig()
    // Bit 6 of the first lock byte locks page 6.
    var memory: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0x40, 0x00, 0xE1, 0x10, 0x06, 0x00]
    memory += [0x03, 0x00, 0xFE, 0x00]
    let tag = await rig.reader.place(try .type2(.ultralightEV1, memory: memory))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ultralight-writer", ["6", "CAFE0123"])
    #expect(status == .exited(1))
    #expect(log == ["page 6: 00000000", "The tag refuses the write."])
    #expect(try await rig.memory(of: tag) == before)
    await rig.stop()
  }
}
