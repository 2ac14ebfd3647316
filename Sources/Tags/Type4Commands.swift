/// The commands of ISO/IEC 7816-4 that a Type 4 tag knows.
///
/// All are short: up to 255 bytes of data, up to 256 bytes of answer. A card with larger MLe and MLc would take extended
/// lengths, which would save APDUs, but no time: a PN53x passes at most 262 bytes on at once, so that each 256 bytes are a
/// command of the chip either way, and cards that promise extended lengths and do not keep to it exist.
extension TagChannel {
  mutating func select(application: [UInt8]) throws(TagStop) -> Bool {
    let length = UInt8(truncatingIfNeeded: application.count)
    return try send([0x00, 0xA4, 0x04, 0x00, length] + application + [0x00]).isSuccess
  }

  /// SELECT by file identifier, first or only occurrence, without an answer.
  mutating func select(_ file: [UInt8]) throws(TagStop) -> Bool {
    try send([0x00, 0xA4, 0x00, 0x0C, 0x02] + file).isSuccess
  }

  /// READ BINARY of at most 256 bytes from an offset of at most 7FFF.
  ///
  /// - Returns: as many as were asked for, or fewer; empty where the card refuses.
  mutating func read(_ offset: Int, _ count: Int) throws(TagStop) -> [UInt8] {
    let answer = try send([0x00, 0xB0] + offset.bytes(2) + [UInt8(truncatingIfNeeded: count)])
    return Array(answer.contents.prefix(count))
  }

  /// READ BINARY of at most 253 bytes from any offset, which is a data object of the command as the answer is one.
  mutating func readObject(_ offset: Int, _ count: Int) throws(TagStop) -> [UInt8] {
    let expected = UInt8(truncatingIfNeeded: count + (count < 0x80 ? 2 : 3))
    let answer = try send([0x00, 0xB1, 0x00, 0x00, 0x05] + DataObject.offset(offset) + [expected])
    return DataObject.contents(answer.contents).map { Array($0.prefix(count)) } ?? []
  }

  /// UPDATE BINARY.
  ///
  /// - Returns: the status word.
  mutating func update(_ offset: Int, _ data: [UInt8]) throws(TagStop) -> Int {
    if offset > Type4File.farthestOffset {
      let objects = DataObject.offset(offset) + DataObject.data(data)
      return try send([0x00, 0xD7, 0x00, 0x00, UInt8(truncatingIfNeeded: objects.count)] + objects).status
    }
    return try send([0x00, 0xD6] + offset.bytes(2) + [UInt8(truncatingIfNeeded: data.count)] + data).status
  }

  private mutating func send(_ command: [UInt8]) throws(TagStop) -> AnswerAPDU {
    let answer: [UInt8]
    do throws(TagChannelError) {
      answer = try exchange(command)
    } catch {
      throw .channel(error)
    }
    // No card answers that (ISO/IEC 7816-4, 5.1): it says nothing of what the card holds.
    guard answer.count >= 2 else { throw .problem(.damaged, "an answer has no status word") }
    return AnswerAPDU(answer)
  }
}

/// An answer APDU, of at least the status word.
private struct AnswerAPDU {
  private let data: ArraySlice<UInt8>
  let status: Int

  init(_ bytes: [UInt8]) {
    data = bytes.dropLast(2)
    status = bytes.suffix(2).bigEndian
  }

  var isSuccess: Bool { status == 0x9000 }

  /// The data where the card gave it. 62 82 says that the file ended before; what there was is there.
  var contents: ArraySlice<UInt8> { isSuccess || status == 0x6282 ? data : [] }
}

/// The data objects of READ BINARY and UPDATE BINARY with odd instruction codes (ISO/IEC 7816-4, 11.3).
enum DataObject {
  /// Bytes of an offset object.
  private static let offsetSize = 5

  /// The offset, in three bytes.
  static func offset(_ offset: Int) -> [UInt8] { [0x54, 0x03] + offset.bytes(3) }

  /// Discretionary data.
  static func data(_ data: [UInt8]) -> [UInt8] {
    let length = UInt8(truncatingIfNeeded: data.count)
    return (data.count < 0x80 ? [0x53, length] : [0x53, 0x81, length]) + data
  }

  /// What is in an object of discretionary data, nil where it is none.
  static func contents(_ object: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = object
    guard rest.popFirst() == 0x53, let first = rest.popFirst() else { return nil }
    var length = Int(first)
    if first >= 0x80 {
      guard first == 0x81 || first == 0x82 else { return nil }
      length = 0
      for _ in 0..<Int(first & 0x0F) {
        guard let byte = rest.popFirst() else { return nil }
        length = length << 8 | Int(byte)
      }
    }
    return rest.prefix(length)
  }

  /// How many bytes an object of a size has room for.
  static func room(in size: Int) -> Int { max(0, size - (size - 2 < 0x80 ? 2 : 3)) }

  /// How many bytes of data go into a command behind the offset.
  static func roomBehindOffset(in size: Int) -> Int { room(in: size - offsetSize) }
}

extension ArraySlice<UInt8> {
  /// The number that the bytes are, the highest first; of at most seven bytes.
  var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension Int {
  /// The lowest bytes, the highest of them first.
  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
