import Testing

@testable import ReaderSimulator

private let topazUID: [UInt8] = [0x38, 0x01, 0x9A, 0x00, 0x00, 0x00, 0x25]
private let selectJewel: [UInt8] = [0x4A, 0x01, 0x04]

/// Type 1 tags, and how the firmware of the chip handles them.
@Suite struct Type1TagTests {
  private func driver(
    _ model: Type1Model = .topaz96, _ message: [UInt8] = [0xD0, 0x00, 0x00]
  ) throws -> ChipDriver {
    ChipDriver(with: try .type1(model, message: message, uid: .fixed(topazUID)))
  }

  private func selected(_ model: Type1Model, _ message: [UInt8] = [0xD0, 0x00, 0x00]) throws -> ChipDriver {
    let driver = try driver(model, message)
    #expect(driver.answer(selectJewel) == [1, 1, 0x0C, 0x00, 0x38, 0x01, 0x9A, 0x00])
    return driver
  }

  private func memory(_ driver: ChipDriver) -> [UInt8] { driver.chip.radio.field.memory(of: TagID(number: 1)) ?? [] }

  @Test(arguments: [(Type1Model.topaz96, 90), (.topaz512, 462)])
  func `the capacity is that of the data sheet`(model: Type1Model, capacity: Int) throws {
    #expect(model.capacity == capacity)
    _ = try SimulatedTag.type1(model, message: [UInt8](repeating: 1, count: capacity))
    #expect(throws: SimulatorError.self) {
      try SimulatedTag.type1(model, message: [UInt8](repeating: 1, count: capacity + 1))
    }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type1(model, message: [], uid: .fixed([1, 2, 3, 4])) }
  }

  @Test func `a poll for Type A does not find a Type 1 tag`() throws {
    let driver = try driver()
    #expect(driver.answer(select) == [0])
    #expect(driver.answer(selectJewel)?.first == 1)
  }

  @Test func `a poll for Jewel finds no other tag`() throws {
    let driver = ChipDriver(with: try type2())
    #expect(driver.answer(selectJewel) == [0])
    // A tag that gets an unknown command after a request answers the next request.
    #expect(driver.answer(select)?.first == 1)
  }

  @Test func `the firmware supports the commands for bytes`() throws {
    let driver = try selected(.topaz96)
    driver.expect([
      ([0x40, 0x01, 0x78], [0, 0x11, 0x48, 0x38, 0x01, 0x9A, 0x00]),
      ([0x40, 0x01, 0x00], [0, 0x11, 0x48] + memory(driver)), ([0x40, 0x01, 0x01, 8], [0, 0xE1]),
      // The firmware ignores a UID from the host.
      ([0x40, 0x01, 0x01, 8, 0, 9, 9, 9, 9], [0, 0xE1]), ([0x40, 0x01, 0x53, 20, 0x0F], [0, 0x0F]),
      ([0x40, 0x01, 0x1A, 20, 0xF1], [0, 0xFF]),
    ])
    #expect(memory(driver)[20] == 0xFF)
    #expect(driver.answer([0x40, 0x01, 0x01, 120]) == [1])
  }

  @Test(arguments: [[0x02, 0x10], [0x54, 0x10, 1, 2, 3, 4, 5, 6, 7, 8], [0x1B, 0x10], [0x10, 0x10]] as [[UInt8]])
  func `the firmware does not support the commands for blocks`(command: [UInt8]) throws {
    #expect(try selected(.topaz512).answer([0x40, 0x01] + command) == [1])
  }

  @Test func `lock bits and OTP bits can only be set`() throws {
    let driver = try selected(.topaz96)
    driver.expect([
      ([0x40, 0x01, 0x53, 114, 0x01], [1]), ([0x40, 0x01, 0x1A, 114, 0x01], [0, 0x01]),
      ([0x40, 0x01, 0x1A, 114, 0x10], [0, 0x11]), ([0x40, 0x01, 0x1A, 112, 0x04], [0, 0x05]),
      ([0x40, 0x01, 0x53, 16, 1], [1]), ([0x40, 0x01, 0x53, 15, 1], [0, 1]), ([0x40, 0x01, 0x53, 0, 1], [1]),
      ([0x40, 0x01, 0x53, 104, 1], [1]),
    ])
  }

  @Test func `a Type 1 tag answers commands only after a request`() throws {
    let tag = try SimulatedTag.type1(.topaz96, message: [], uid: .fixed(topazUID))
    var topaz = tag.tag
    let rid = RadioFrame.standard([0x78, 0, 0, 0, 0, 0, 0], .jewel)
    #expect(topaz.receive(rid) == nil)
    #expect(topaz.receive(.short(0x26))?.bytes == [0x00, 0x0C])
    #expect(topaz.receive(rid) == .standard([0x11, 0x48, 0x38, 0x01, 0x9A, 0x00], .jewel))
    #expect(topaz.receive(.standard([0x00, 0, 0, 1, 2, 3, 4], .jewel)) == nil)
    #expect(topaz.receive(.standard([0x78, 0, 0, 0, 0, 0, 0])) == nil)
    topaz.losePower()
    #expect(topaz.receive(rid) == nil)
  }

  @Test func `a tag can be created from a memory dump`() throws {
    let driver = try selected(.topaz512, [0xD0, 0x00, 0x00])
    let image = memory(driver)
    #expect(try SimulatedTag.type1(memory: image).tag.memory == image)
    #expect(try SimulatedTag.type1(memory: Array(image[..<120])).tag.memory.count == 120)
    #expect(throws: SimulatorError.self) { try SimulatedTag.type1(memory: [1, 2]) }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type1(memory: [UInt8](repeating: 0, count: 513)) }
  }
}

/// Commands that bypass the firmware, as nfcpy sends them.
@Suite struct ByteFrameTests {
  private func send(_ bytes: [UInt8], parity: Bool = false) -> [UInt8] {
    var command: [UInt8] = [0x08, 0x63, 0x3A, 0x80]
    for (index, byte) in bytes.enumerated() {
      command += [0x63, 0x39, byte]
      if index == 0 { command += [0x63, 0x3D, 0x07] }
      command += [0x63, 0x31, 0x04]
      if index == 0 { command += [0x63, 0x3D, 0x00, 0x63, 0x0D, parity ? 0x20 : 0x30] }
    }
    return command + [0x63, 0x31, 0x08]
  }

  private func topaz512() throws -> ChipDriver {
    let driver = ChipDriver(with: try .type1(.topaz512, message: [], uid: .fixed(topazUID)))
    _ = driver.answer(selectJewel)
    return driver
  }

  @Test func `a block is read with its parity bits`() throws {
    let driver = try topaz512()
    let command: [UInt8] = [0x02, 0x01] + [UInt8](repeating: 0, count: 8) + topazUID[..<4]
    #expect(driver.answer(send(RadioFrame.standard(command, .jewel).bytes)) == [])
    let read: [UInt8] = [0x06, 0x63, 0x3A] + (0..<13).flatMap { _ in [0x63, 0x39] as [UInt8] } + [0x63, 0x3A]
    let answer = try #require(driver.answer(read))
    #expect(answer.first == 13 && answer.last == 0)
    // 01 E1 10 3F …: each byte with its lowest bit first, and an odd parity bit.
    let bits = answer[1...13].flatMap { byte in (0..<8).map { byte >> UInt8($0) & 1 } }
    #expect(bits[0..<27] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    #expect(driver.answer([0x06, 0x63, 0x3C]) == [3])
  }

  @Test func `a frame in the wrong form gets no answer`() throws {
    let driver = try topaz512()
    let command = RadioFrame.standard([0x02, 0x01] + [UInt8](repeating: 0, count: 8) + topazUID[..<4], .jewel).bytes
    for wrong in [send(command, parity: true), send(Array(command.dropLast())), send([])] {
      #expect(driver.answer(wrong) == [])
      #expect(driver.answer([0x06, 0x63, 0x3A]) == [0])
    }
    #expect(driver.answer(send(command)) == [])
    #expect(driver.answer([0x06, 0x63, 0x3A]) == [13])
  }

  @Test func `blocks are written with and without erasing`() throws {
    let driver = try topaz512()
    func write(_ code: UInt8, _ block: UInt8, _ data: [UInt8]) -> Bool {
      _ = driver.answer(send(RadioFrame.standard([code, block] + data + topazUID[..<4], .jewel).bytes))
      return driver.answer([0x06, 0x63, 0x3A]) == [13]
    }
    func block(_ number: Int) -> [UInt8] {
      Array((driver.chip.radio.field.memory(of: TagID(number: 1)) ?? [])[number * 8..<number * 8 + 8])
    }
    #expect(write(0x54, 0x10, [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(write(0x1B, 0x10, [8, 8, 8, 8, 8, 8, 8, 8]))
    #expect(block(0x10) == [9, 10, 11, 12, 13, 14, 15, 8])
    #expect(!write(0x54, 0x0F, [0, 0, 1, 0, 0, 0, 0, 0]))
    #expect(write(0x1B, 0x0F, [0, 0, 1, 0, 0, 0, 0, 0]))
    #expect(!write(0x54, 0x10, [0, 0, 0, 0, 0, 0, 0, 0]))
    #expect(write(0x54, 0x11, [0, 0, 0, 0, 0, 0, 0, 1]))
    #expect(!write(0x54, 0x0D, [0, 0, 0, 0, 0, 0, 0, 0]))
    #expect(!write(0x54, 0x40, [0, 0, 0, 0, 0, 0, 0, 0]))
  }
}
