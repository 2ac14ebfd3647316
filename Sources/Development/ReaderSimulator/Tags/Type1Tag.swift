/// The commands of NFC Forum Type 1 (Type 1 Tag Operation Specification 1.1, section 5), as Topaz tags have them.
///
/// A tag answers the request of Type A but takes no part in the anticollision: RID returns its UID. The tag answers
/// neither commands that it cannot execute, nor commands for other tags, nor broken frames.
struct Type1Tag: FieldTag {
  private var blocks: Type1Memory
  /// Whether the tag has received a request since it got power.
  private var isReady = false

  init(_ blocks: Type1Memory) { self.blocks = blocks }

  var memory: [UInt8] { blocks.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { blocks.writeTear = tear }

  /// The four bytes of the UID that commands carry.
  private var uid: [UInt8] { Array(blocks.bytes[0..<4]) }

  mutating func losePower() { isReady = false }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    if frame == .short(RadioInterface.reqa) || frame == .short(RadioInterface.wupa) {
      isReady = true
      return RadioFrame(bytes: [0x00, 0x0C])
    }
    guard isReady, frame.modulation == .jewel, let data = frame.checkedData else { return nil }
    return answer(data).map { .standard($0, .jewel) }
  }

  private mutating func answer(_ data: [UInt8]) -> [UInt8]? {
    if data == [0x78, 0, 0, 0, 0, 0, 0] { return blocks.model.headerROM + uid }
    guard data.count >= 7, Array(data.suffix(4)) == uid else { return nil }
    let (code, address, parameters) = (data[0], data[1], Array(data[2..<data.count - 4]))
    switch (code, parameters.count) {
    case (0x00, 1): return blocks.model.headerROM + blocks.read(at: 0, count: 120)
    case (0x01, 1) where address < limit: return [address] + blocks.read(at: Int(address), count: 1)
    case (0x53, 1) where address < limit: return write(parameters, address, at: Int(address), erasing: true)
    case (0x1A, 1) where address < limit: return write(parameters, address, at: Int(address), erasing: false)
    default: return blocks.model.isDynamic ? answerDynamic(code, address, parameters) : nil
    }
  }

  private mutating func answerDynamic(_ code: UInt8, _ address: UInt8, _ parameters: [UInt8]) -> [UInt8]? {
    guard parameters.count == 8 else { return nil }
    switch code {
    case 0x10 where address & 0x0F == 0: return [address] + blocks.read(at: Int(address >> 4) * 128, count: 128)
    case 0x02: return [address] + blocks.read(at: Int(address) * 8, count: 8)
    case 0x54: return write(parameters, address, at: Int(address) * 8, erasing: true)
    case 0x1B: return write(parameters, address, at: Int(address) * 8, erasing: false)
    default: return nil
    }
  }

  private mutating func write(_ data: [UInt8], _ operand: UInt8, at address: Int, erasing: Bool) -> [UInt8]? {
    blocks.write(data, at: address, erasing: erasing).map { [operand] + $0 }
  }

  /// The first address that the commands for single bytes cannot reach.
  private var limit: UInt8 { blocks.model.isDynamic ? 128 : 120 }
}
