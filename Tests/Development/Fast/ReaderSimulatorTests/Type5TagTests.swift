import Testing

@testable import ReaderSimulator

@Suite struct Type5TagTests {
  private let uid: [UInt8] = [0xE0, 0x04, 0x01, 0x50, 0x11, 0x22, 0x33, 0x44]

  private func tag(
    _ model: SimulatedType5Model = .slix2, _ message: [UInt8] = [0xD0, 0x00, 0x00]
  ) throws -> any FieldTag {
    try SimulatedTag.type5(model, message: message, uid: uid).tag
  }

  /// The answer to a request without its checksum, in hexadecimal digits; "nothing" for silence.
  private func send(_ request: String, to tag: inout any FieldTag) -> String {
    let bytes = HexText.bytes(request.filter { $0 != " " }) ?? []
    guard let frame = tag.receive(.standard(bytes, .vicinity)) else { return "nothing" }
    return frame.checkedData.map(HexText.string) ?? "broken"
  }

  private func expect(
    _ exchanges: [(String, String)], of tag: inout any FieldTag, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (request, expected) in exchanges {
      let answer = send(request, to: &tag)
      #expect(answer == expected, "\(request)", sourceLocation: sourceLocation)
    }
  }

  @Test func `an inventory tells the UID with its lowest byte first`() throws {
    var tag = try tag()
    #expect(send("260100", to: &tag) == "00004433221150" + "0104e0")
    #expect(send("26010844", to: &tag).hasPrefix("0000"))
    #expect(send("26010845", to: &tag) == "nothing")
  }

  @Test func `a request may name the tag, select it or leave it quiet`() throws {
    var tag = try tag()
    expect(
      [
        ("22 20 4433221150 0104e0 00", "00e1402701"), ("22 20 4433221150 0104e1 00", "nothing"),
        ("12 20 00", "nothing"), ("22 25 4433221150 0104e0", "00"), ("12 20 00", "00e1402701"),
        ("22 02 4433221150 0104e0", "nothing"), ("02 20 00", "nothing"), ("22 26 4433221150 0104e0", "00"),
        ("02 20 00", "00e1402701"),
      ], of: &tag)
  }

  @Test func `blocks are read, written and locked`() throws {
    var tag = try tag()
    expect(
      [
        ("02 20 01", "000303d000"), ("02 23 00 01", "00e14027010303d000"), ("42 20 01", "00000303d000"),
        ("02 21 10 01020304", "00"), ("02 22 10", "00"), ("02 22 10", "0111"), ("02 21 10 05060708", "0112"),
        ("42 20 10", "000101020304"), ("02 2c 0f 01", "000001"), ("02 20 50", "0110"),
        ("02 2b", "000f4433221150" + "0104e000004f0301"), ("02 30 00 00", "nothing"),
      ], of: &tag)
  }

  @Test func `a large memory has extended commands and a container of eight bytes`() throws {
    let message = [UInt8](repeating: 0x5A, count: 8_000)
    var tag = try tag(.st25DV64K, message)
    #expect(send("02 33 0000 0100", to: &tag) == "00e2400001000003ff")
    #expect(send("02 30 ff07", to: &tag).hasPrefix("00"))
    expect(
      [
        ("02 31 0007 01020304", "00"), ("02 30 0007", "0001020304"), ("02 32 0007", "00"),
        ("02 31 0007 01020304", "0112"), ("02 30 0008", "0110"),
      ], of: &tag)
  }

  @Test func `a memory may have 8,448 bytes and blocks of 8 or 32`() throws {
    let large = try SimulatedType5Model("large", blockSize: 4, blockCount: 2112)
    #expect(large.byteCount == 8_448 && large.hasExtendedCommands)
    #expect(try SimulatedTag.type5(large, message: [UInt8](repeating: 1, count: 8_436)).tag.memory.count == 8_448)
    #expect(throws: SimulatorError.self) {
      try SimulatedTag.type5(large, message: [UInt8](repeating: 1, count: 8_437))
    }
    var tag = try tag(.mb89R118)
    #expect(send("02 20 00", to: &tag) == "00e140f9010303d000")
    tag = try self.tag(.mb89R112)
    #expect(send("02 20 00", to: &tag).count == 2 + 64)
    #expect(send("02 23 00 01", to: &tag) == "0102")
    #expect(throws: SimulatorError.self) { try SimulatedType5Model("odd", blockSize: 33, blockCount: 1) }
  }

  @Test func `a Tag-it needs the option flag for a write`() throws {
    var tag = try tag(.tagItPlus)
    #expect(send("02 21 10 01020304", to: &tag) == "0103")
    #expect(send("42 21 10 01020304", to: &tag) == "00")
  }

  @Test func `a PN532 does not notice the tag`() throws {
    let driver = ChipDriver()
    _ = driver.place(try .type5(.slix2, message: []))
    #expect(driver.answer(oneRequest) == [])
    for type: UInt8 in [0x00, 0x04] { #expect(driver.answer([0x4A, 0x01, type]) == [0]) }
  }

  @Test func `a reader reads whole blocks by its pseudo-APDUs`() throws {
    var slot = try SlotDriver(.acr1552U, try .type5(.slix2, message: [0xD0, 0x00, 0x00], uid: uid))
    try slot.expect([
      ("ffca000000", "e0040150112233449000"), ("ffb0000000", "e14027019000"), ("ffb0000108", "0303d00000fe00009000"),
      ("ffb0000006", "6c04"), ("ffd6001004 01020304", "9000"), ("ffb0001004", "010203049000"), ("ffb0005004", "6300"),
      ("ffc2000002 8100", "c0030090009000"), ("ffc2000204 8f020200", "c0030090009000"),
      ("ffc2000105 9503022001", "c0030090009201009602000097050003" + "03d0009000"),
    ])
  }

  @Test func `an OMNIKEY tells the UID in reverse and reads blocks from 256 on`() throws {
    var slot = try SlotDriver(.omnikey5427, try .type5(.st25DV64K, message: [], uid: uid))
    try slot.expect([
      ("ffca000000", "44332211500104e09000"), ("ffd6010004 0a0b0c0d", "9000"), ("ffb0010004", "0a0b0c0d9000"),
      ("ffb0080004", "6a82"),
    ])
    #expect(throws: SimulatorError.self) { try SlotDriver(.acr1252U, try .type5(.slix2, message: [])) }
  }
}
