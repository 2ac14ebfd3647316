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

@Suite struct HostFrameDecoderTests {
  private var decoder = HostFrameDecoder()
  private let command = HostFrame.information([0xD4, 0x02])

  @Test mutating func `the wake-up preamble is skipped`() {
    #expect(decoder.append([0x55, 0x55, 0x00, 0x00, 0x00] + command.bytes) == [command])
  }

  @Test mutating func `frames are decoded from single bytes`() {
    var frames: [HostFrame] = []
    for byte in command.bytes + HostFrame.acknowledge.bytes + command.bytes { frames += decoder.append([byte]) }
    #expect(frames == [command, .acknowledge, command])
  }

  @Test(arguments: [5, 6, 7]) mutating func `a damaged byte drops only its own frame`(position: Int) {
    var damaged = command.bytes
    damaged[position] ^= 0x10
    #expect(decoder.append(damaged + command.bytes) == [command])
  }

  @Test mutating func `a frame with a wrong length or length checksum is dropped`() {
    #expect(decoder.append([0x00, 0xFF, 0x02, 0x11] + command.bytes) == [command])
    #expect(decoder.append([0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x09, 0x00] + command.bytes) == [command])
    // An impossible length with a correct checksum.
    #expect(decoder.append([0x00, 0xFF, 0xFF, 0xFF, 0x02, 0x00, 0xFE] + command.bytes) == [command])
  }

  @Test mutating func `a frame inside an abandoned one is found`() {
    // The header of a frame of 16 bytes that never arrives, and then the first frame of another host.
    #expect(decoder.append([0x00, 0xFF, 0x10, 0xF0, 0xD4]) == [])
    #expect(decoder.append(command.bytes) == [])
    #expect(decoder.isInsideFrame)
    #expect(decoder.abandonFrame() == [command])
    #expect(!decoder.isInsideFrame)
  }

  @Test mutating func `garbage is dropped, and the next frame is decoded`() {
    for _ in 0..<2_000 {
      let bytes = (0..<64).map { _ in [0x00, 0xFF, 0x01, 0xD4, UInt8.random(in: 0...0xFF)].randomElement() ?? 0 }
      _ = decoder.append(bytes)
    }
    while decoder.isInsideFrame { _ = decoder.abandonFrame() }
    #expect(decoder.append(command.bytes) == [command])
  }
}
