import NDEF
import Names

/// NFC Forum Type 4 Tag Operation Specification 2.0 and Type 4 Tag Technical Specification 1.0 (mapping 3.0), over
/// ISO/IEC 14443 A or B.
///
/// A message that fits into one answer takes five APDUs: SELECT the NDEF application, SELECT and READ the capability
/// container, SELECT the NDEF file, and READ its length and the message at once.
struct Type4Tag: NDEFTag {
  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    let file = try openContainer(&channel)
    guard file.isReadable else { throw Self.notReadable }
    return NDEFStatus(capacity: file.capacity, isWritable: file.isWritable)
  }

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    let file = try openContainer(&channel)
    guard file.isReadable else { throw Self.notReadable }
    guard try channel.select(file.identifier) else { throw .refused(.damaged, "the NDEF file is not there") }
    // Some cards refuse to read beyond the end of the message. They are asked for the length alone.
    var bytes = try channel.read(0, min(file.mostRead, file.size))
    if bytes.count < file.lengthSize { bytes = try channel.read(0, file.lengthSize) }
    guard bytes.count >= file.lengthSize else { throw .damaged("the NDEF file cannot be read", bytes) }
    let length = bytes.prefix(file.lengthSize).bigEndian
    let end = length + file.lengthSize
    guard end <= file.size else {
      throw .damaged("the NDEF message is longer than the file that holds it", bytes)
    }
    guard length <= NDEFLimits.default.messageSize else {
      throw .refused(.unsupported, "the NDEF message is longer than 1 MiB")
    }
    // A card may return fewer bytes than requested, but the number of short answers is limited so that reading ends.
    var shortAnswers = 0
    while bytes.count < end {
      let isFar = bytes.count > Type4File.farthestOffset
      guard !isFar || file.hasFarOffsets else {
        throw .refused(.unsupported, "the NDEF message goes beyond the first 32 KiB of the file")
      }
      let wanted = min(isFar ? DataObject.room(in: file.mostRead) : file.mostRead, end - bytes.count)
      let piece = try isFar ? channel.readObject(bytes.count, wanted) : channel.read(bytes.count, wanted)
      if piece.count < wanted { shortAnswers += 1 }
      guard !piece.isEmpty, shortAnswers <= 8 else { throw .damaged("the NDEF file cannot be read whole", bytes) }
      bytes += piece
    }
    return Array(bytes[file.lengthSize..<end])
  }
}

extension Type4Tag {
  private static let notReadable = TagWriteError.refused(.unsupported, "the card does not let everybody read it")
  private static let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
  /// Of mapping version 1.0.
  private static let formerApplication: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]
  private static let containerFile: [UInt8] = [0xE1, 0x03]
  /// In bytes. The longest known container has 38.
  private static let mostOfContainer = 255

  /// Reads the part of the capability container that describes the NDEF file. The container stays selected.
  func openContainer(_ channel: inout some TagChannel) throws(TagWriteError) -> Type4File {
    guard try channel.select(application: Self.application) else {
      guard try channel.select(application: Self.formerApplication) else {
        throw .refused(
          .notNDEF, "an ISO/IEC 14443-4 card without an NDEF application, such as a payment or identity card")
      }
      throw .refused(.unsupported, "it is formatted for mapping version 1.0 of Type 4")
    }
    guard try channel.select(Self.containerFile) else { throw .refused(.damaged, "there is no capability container") }
    var container = try channel.read(0, 15)
    guard container.count == 15 else { throw .refused(.damaged, "the capability container is cut off") }
    guard [2, 3].contains(container[2] >> 4) else {
      throw .refused(.unsupported, "it is formatted for mapping version \(container[2] >> 4) of Type 4")
    }
    let size = min(container[0...1].bigEndian, Self.mostOfContainer)
    // MLe, but at most the length that every reader supports together with the status word.
    let mostRead = min(container[3...4].bigEndian, ExchangeLimit.answer - 2)
    guard size >= 15, mostRead >= 15 else { throw .refused(.damaged, "the capability container contradicts itself") }
    // The control TLV blocks. In all containers of 15 bytes, the first block is the right one.
    var offset = 7
    while true {
      try extend(&container, to: offset + 2, size, mostRead, &channel)
      let (kind, end) = (container[offset], offset + 2 + Int(container[offset + 1]))
      if kind == 0x04 || kind == 0x06 {
        guard end == offset + (kind == 0x04 ? 8 : 10) else {
          throw .refused(.damaged, "the capability container does not name the NDEF file")
        }
        try extend(&container, to: end, size, mostRead, &channel)
        return try Type4File(container, control: offset..<end, mostRead: mostRead)
      }
      offset = end
    }
  }

  private func extend(
    _ container: inout [UInt8], to end: Int, _ size: Int, _ mostRead: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    guard end <= size else { throw .refused(.damaged, "the capability container does not name the NDEF file") }
    while container.count < end {
      let piece = try channel.read(container.count, min(mostRead, size - container.count))
      guard !piece.isEmpty else { throw .refused(.damaged, "the capability container is cut off") }
      container += piece
    }
  }
}

/// The file that holds the message, according to its control TLV in the capability container (Type 4 Tag, section
/// 5.1.2).
struct Type4File {
  /// With a plain offset in READ BINARY and UPDATE BINARY.
  static let farthestOffset = 0x7FFF

  let identifier: [UInt8]
  /// In bytes, including the length field.
  let size: Int
  /// In bytes: 2, or 4 in the extended form of mapping 3.0.
  let lengthSize: Int
  /// Bytes per READ BINARY, 15 to 246.
  let mostRead: Int
  /// Bytes in the data field of one UPDATE BINARY, 0 to 245.
  let mostWritten: Int
  let isReadable: Bool
  let isWritable: Bool
  /// Supports the commands for offsets beyond the first 32 KiB.
  let hasFarOffsets: Bool
  /// In the container.
  let writeAccessOffset: Int

  /// `container` reaches at least to the end of `control`, the range of the TLV: 8 bytes for type 04, 10 bytes for type
  /// 06. `mostRead` is MLe, limited to the maximum that is used. Fails with a problem if the TLV does not name a
  /// readable file.
  init(_ container: [UInt8], control: Range<Int>, mostRead: Int) throws(TagWriteError) {
    let value = Array(container[control].dropFirst(2))
    lengthSize = container[control.lowerBound] == 0x06 ? 4 : 2
    identifier = Array(value[0...1])
    guard ![0x0000, 0x3F00, 0x3FFF, 0xE102, 0xE103, 0xFFFF].contains(value[0...1].bigEndian) else {
      throw .refused(.damaged, "the NDEF file has a reserved identifier")
    }
    size = value[2..<2 + lengthSize].bigEndian
    guard size > lengthSize else { throw .refused(.damaged, "the NDEF file has no room for a message") }
    self.mostRead = mostRead
    mostWritten = min(container[5...6].bigEndian, ExchangeLimit.command - 5)
    isReadable = value[2 + lengthSize] == 0x00
    isWritable = value[3 + lengthSize] == 0x00
    hasFarOffsets = container[2] >> 4 == 3
    writeAccessOffset = control.upperBound - 1
  }

  /// Of the longest message, in bytes, limited by the file and by the commands.
  var capacity: Int {
    min((hasFarOffsets ? size : min(size, Self.farthestOffset + 1)) - lengthSize, NDEFLimits.default.messageSize)
  }
}

/// Writing: the length is set to zero, then the message is written, then its length.
extension Type4Tag {
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    let file = try openContainer(&channel)
    guard file.isWritable else { throw .readOnly }
    guard message.count <= file.capacity else { throw .tooLong(capacity: file.capacity) }
    let far = DataObject.roomBehindOffset(in: file.mostWritten)
    // The length must fit into one command. Between two commands, the tag would have a third, wrong length.
    guard file.mostWritten >= file.lengthSize,
      far >= 1 || message.count + file.lengthSize <= Type4File.farthestOffset + 1
    else { throw .refused(.unsupported, "the card takes too few bytes at once") }
    guard try channel.select(file.identifier) else { throw .refused(.damaged, "the NDEF file is not there") }
    try update(0, 0.bytes(file.lengthSize), &channel)
    var offset = 0
    while offset < message.count {
      let position = file.lengthSize + offset
      let most = position > Type4File.farthestOffset ? far : file.mostWritten
      let piece = Array(message[offset..<min(offset + most, message.count)])
      try update(position, piece, &channel)
      offset += piece.count
    }
    // The length and the message are never written together, even if both are short. A card that is removed may have
    // stored any part of a command.
    if !message.isEmpty { try update(0, message.count.bytes(file.lengthSize), &channel) }
  }

  /// Forbids writing in the capability container, if the card lets anyone change it (section 5.5). This is permanent. A
  /// card that enforces the setting refuses all further writes.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let file = try openContainer(&channel)
    guard file.isWritable else { throw .readOnly }
    let status = try channel.update(file.writeAccessOffset, [0xFF])
    guard status == 0x9000 else {
      throw .cannotLock(
        "the card lets only its owner make it read-only, with keys that are not known here (it answered \(hex(status)))"
      )
    }
    let access = try channel.read(file.writeAccessOffset, 1)
    guard access == [0xFF] else {
      throw .cannotLock("the card accepted to be made read-only, and is not")
    }
  }

  private func update(_ offset: Int, _ data: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) {
    let status = try channel.update(offset, data)
    guard status == 0x9000 else {
      throw .refused(.unsupported, "the card refuses to be written (it answered \(hex(status)))")
    }
  }

  /// Four hexadecimal digits.
  private func hex(_ status: Int) -> String { Hexadecimal.text(UInt16(truncatingIfNeeded: status)).lowercased() }
}

/// The commands of ISO/IEC 7816-4 that a Type 4 tag supports.
///
/// All commands are short: up to 255 bytes of data, up to 256 bytes of answer. Extended lengths would save APDUs on a
/// card with larger MLe and MLc, but no time. A PN53x passes on at most 262 bytes at once, so each 256 bytes take a
/// chip command anyway. Some cards also announce extended lengths but do not support them.
extension TagChannel {
  /// SELECT by name, with Le. Some cards of mapping version 1.0 refuse Le.
  mutating func select(application: [UInt8]) throws(TagWriteError) -> Bool {
    let command = [0x00, 0xA4, 0x04, 0x00, UInt8(truncatingIfNeeded: application.count)] + application
    return try select(command + [0x00], orElse: command)
  }

  /// SELECT by file identifier, first or only occurrence, without response data. Some cards only know the form with
  /// response data, as in mapping version 1.0.
  mutating func select(_ file: [UInt8]) throws(TagWriteError) -> Bool {
    try select([0x00, 0xA4, 0x00, 0x0C, 0x02] + file, orElse: [0x00, 0xA4, 0x00, 0x00, 0x02] + file)
  }

  /// Sends the other form if the card refuses the first one, unless it has no such application or file.
  private mutating func select(_ command: [UInt8], orElse other: [UInt8]) throws(TagWriteError) -> Bool {
    let answer = try send(command)
    if answer.isSuccess || answer.status == 0x6A82 { return answer.isSuccess }
    return try send(other).isSuccess
  }

  /// READ BINARY of at most 256 bytes from an offset of at most 7FFF. The result may be shorter; it is empty if the
  /// card refuses.
  mutating func read(_ offset: Int, _ count: Int) throws(TagWriteError) -> [UInt8] {
    let answer = try send([0x00, 0xB0] + offset.bytes(2) + [UInt8(truncatingIfNeeded: count)])
    return Array(answer.contents.prefix(count))
  }

  /// READ BINARY of at most 253 bytes from any offset. The offset and the answer are data objects.
  mutating func readObject(_ offset: Int, _ count: Int) throws(TagWriteError) -> [UInt8] {
    let expected = UInt8(truncatingIfNeeded: count + (count < 0x80 ? 2 : 3))
    let answer = try send([0x00, 0xB1, 0x00, 0x00, 0x05] + DataObject.offset(offset) + [expected])
    return DataObject.contents(answer.contents).map { Array($0.prefix(count)) } ?? []
  }

  /// UPDATE BINARY. Returns the status word.
  mutating func update(_ offset: Int, _ data: [UInt8]) throws(TagWriteError) -> Int {
    if offset > Type4File.farthestOffset {
      let objects = DataObject.offset(offset) + DataObject.data(data)
      return try send([0x00, 0xD7, 0x00, 0x00, UInt8(truncatingIfNeeded: objects.count)] + objects).status
    }
    return try send([0x00, 0xD6] + offset.bytes(2) + [UInt8(truncatingIfNeeded: data.count)] + data).status
  }

  private mutating func send(_ command: [UInt8]) throws(TagWriteError) -> AnswerAPDU {
    let answer = try ask(command)
    // ISO/IEC 7816-4, 5.1 requires a status word. An answer without one gives no information about the card's contents.
    guard answer.count >= 2 else { throw .refused(.damaged, "an answer has no status word") }
    return AnswerAPDU(answer)
  }
}

/// A response APDU, which has at least a status word.
private struct AnswerAPDU {
  private let data: ArraySlice<UInt8>
  let status: Int

  init(_ bytes: [UInt8]) {
    data = bytes.dropLast(2)
    status = bytes.suffix(2).bigEndian
  }

  var isSuccess: Bool { status == 0x9000 }

  /// Empty if the card refused. Status 62 82 means that the file ended early; the bytes up to its end are valid.
  var contents: ArraySlice<UInt8> { isSuccess || status == 0x6282 ? data : [] }
}

/// The data objects of READ BINARY and UPDATE BINARY with odd instruction codes (ISO/IEC 7816-4, 11.3).
enum DataObject {
  /// In bytes.
  private static let offsetSize = 5

  /// In three bytes.
  static func offset(_ offset: Int) -> [UInt8] { [0x54, 0x03] + offset.bytes(3) }

  /// Discretionary.
  static func data(_ data: [UInt8]) -> [UInt8] {
    let length = UInt8(truncatingIfNeeded: data.count)
    return (data.count < 0x80 ? [0x53, length] : [0x53, 0x81, length]) + data
  }

  /// Of a discretionary data object; nil if the bytes are no such object.
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

  /// In bytes, in an object of this size.
  static func room(in size: Int) -> Int { max(0, size - (size - 2 < 0x80 ? 2 : 3)) }

  /// In bytes, in a command behind the offset object.
  static func roomBehindOffset(in size: Int) -> Int { room(in: size - offsetSize) }
}

extension ArraySlice<UInt8> {
  /// At most seven bytes.
  var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension Int {
  /// The low bytes, in big-endian order.
  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
