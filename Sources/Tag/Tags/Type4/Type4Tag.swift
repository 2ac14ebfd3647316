import NDEF

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
  /// Mapping version 1.0 has a different application name.
  private static let formerApplication: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]
  private static let containerFile: [UInt8] = [0xE1, 0x03]
  /// This code reads at most this many bytes of a container. The longest known container has 38 bytes.
  private static let mostOfContainer = 255

  /// Selects the NDEF application and its capability container, and reads the part that describes the NDEF file. The
  /// container stays selected.
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

  /// Reads more of the container, up to `end`.
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
  /// The largest offset at which READ BINARY and UPDATE BINARY with a plain offset can begin.
  static let farthestOffset = 0x7FFF

  let identifier: [UInt8]
  /// The size in bytes, including the length field.
  let size: Int
  /// The size of the length field in bytes: 2, or 4 in the extended form of mapping 3.0.
  let lengthSize: Int
  /// The maximum number of bytes per READ BINARY, 15 to 246.
  let mostRead: Int
  /// The maximum number of bytes in the data field of one UPDATE BINARY, 0 to 245.
  let mostWritten: Int
  let isReadable: Bool
  let isWritable: Bool
  /// Whether the card supports the commands for offsets beyond the first 32 KiB.
  let hasFarOffsets: Bool
  /// The offset in the container of the byte for write access.
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

  /// The length of the longest message in bytes, limited by the file and by the commands.
  var capacity: Int {
    min((hasFarOffsets ? size : min(size, Self.farthestOffset + 1)) - lengthSize, NDEFLimits.default.messageSize)
  }
}
