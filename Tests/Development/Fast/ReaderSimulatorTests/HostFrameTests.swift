import Testing

@testable import ReaderSimulator

@Suite struct HostFrameTests {
  @Test func `a short payload is encoded as a normal frame`() {
    #expect(
      HostFrame.information([0xD4, 0x4A, 0x01, 0x00]).bytes
        == [0x00, 0x00, 0xFF, 0x04, 0xFC, 0xD4, 0x4A, 0x01, 0x00, 0xE1, 0x00])
  }

  @Test func `a long payload is encoded as an extended frame`() {
    let payload = [0xD5] + [UInt8](repeating: 0x11, count: 264)
    let bytes = HostFrame.information(payload).bytes
    #expect(bytes.prefix(8) == [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x09, 0xF6])
    #expect(bytes.count == 8 + 265 + 2)
  }

  @Test(
    arguments: [
      .acknowledge, .notAcknowledge, .error, .information([0xD4, 0x02]),
      .information([0xD4] + [UInt8](repeating: 0xFF, count: 254)),
      .information([0xD4] + [UInt8](repeating: 0x00, count: 255)),
      .information([0xD4] + [UInt8](repeating: 0xFF, count: 264)),
    ] as [HostFrame])
  func `a frame is the same after encoding and decoding`(frame: HostFrame) {
    var decoder = HostFrameDecoder()
    #expect(decoder.append(frame.bytes) == [frame])
    #expect(!decoder.isInsideFrame)
  }

  @Test func `a payload that is too long for a frame is cut`() {
    var decoder = HostFrameDecoder()
    let frames = decoder.append(HostFrame.information([UInt8](repeating: 0xD4, count: 300)).bytes)
    #expect(frames == [.information([UInt8](repeating: 0xD4, count: 265))])
  }
}
