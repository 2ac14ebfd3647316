import NDEF

/// NFC Forum Type 4 Tag Operation Specification 2.0 and Type 4 Tag Technical Specification 1.0 (mapping 3.0), over either
/// kind of ISO/IEC 14443.
///
/// Five APDUs for a message that fits into one answer: SELECT the NDEF application, SELECT and READ the capability
/// container, SELECT the NDEF file, and READ its length and the message at once.
struct Type4Tag: NDEFTag {
  func readBytes(
    over channel: inout some TagChannel
  ) throws(TagChannelError) -> Result<[UInt8], TagProblem> {
    try Result { () throws(TagStop) in try message(over: &channel) }
  }

  func status(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus {
    return try NDEFStatus { () throws(TagStop) in
      let file = try openContainer(&channel)
      guard file.isReadable else { return NDEFStatus(notSupported: Self.notReadable) }
      return NDEFStatus(capacity: file.capacity, isWritable: file.isWritable)
    }
  }

  private func message(over channel: inout some TagChannel) throws(TagStop) -> [UInt8] {
    let file = try openContainer(&channel)
    guard file.isReadable else { throw .problem(Self.notReadable) }
    guard try channel.select(file.identifier) else { throw .problem(.damaged, "the NDEF file is not there") }
    // Cards that refuse to be read behind the end of the message exist; they are asked for the length alone.
    var bytes = try channel.read(0, min(file.mostRead, file.size))
    if bytes.count < file.lengthSize { bytes = try channel.read(0, file.lengthSize) }
    guard bytes.count >= file.lengthSize else { throw .problem(.damaged, "the NDEF file cannot be read") }
    let length = bytes.prefix(file.lengthSize).bigEndian
    let end = length + file.lengthSize
    guard end <= file.size else {
      throw .problem(.damaged, "the NDEF message is longer than the file that holds it")
    }
    guard length <= NDEFLimits.default.messageSize else {
      throw .problem(.unsupported, "the NDEF message is longer than 1 MiB")
    }
    // Fewer bytes than were asked for are allowed, but not so often that a card keeps us busy for ever.
    var shortAnswers = 0
    while bytes.count < end {
      let isFar = bytes.count > Type4File.farthestOffset
      guard !isFar || file.hasFarOffsets else {
        throw .problem(.unsupported, "the NDEF message goes beyond the first 32 KiB of the file")
      }
      let wanted = min(isFar ? DataObject.room(in: file.mostRead) : file.mostRead, end - bytes.count)
      let piece = try isFar ? channel.readObject(bytes.count, wanted) : channel.read(bytes.count, wanted)
      if piece.count < wanted { shortAnswers += 1 }
      guard !piece.isEmpty, shortAnswers <= 8 else { throw .problem(.damaged, "the NDEF file cannot be read whole") }
      bytes += piece
    }
    return Array(bytes[file.lengthSize..<end])
  }
}

extension Type4Tag {
  private static let notReadable = TagProblem(.unsupported, "the card does not let everybody read it")
  private static let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
  /// Mapping version 1.0 has a name of its own.
  private static let formerApplication: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]
  private static let containerFile: [UInt8] = [0xE1, 0x03]
  /// A container goes no further than this for us; the longest that is known has 38 bytes.
  private static let mostOfContainer = 255

  /// Selects the NDEF application and its capability container, and reads of it what describes the NDEF file. The container
  /// stays selected.
  func openContainer(_ channel: inout some TagChannel) throws(TagStop) -> Type4File {
    guard try channel.select(application: Self.application) else {
      guard try channel.select(application: Self.formerApplication) else {
        throw .problem(
          .notNDEF, "an ISO/IEC 14443-4 card without an NDEF application, such as a payment or identity card")
      }
      throw .problem(.unsupported, "it is formatted for mapping version 1.0 of Type 4")
    }
    guard try channel.select(Self.containerFile) else { throw .problem(.damaged, "there is no capability container") }
    var container = try channel.read(0, 15)
    guard container.count == 15 else { throw .problem(.damaged, "the capability container is cut off") }
    guard [2, 3].contains(container[2] >> 4) else {
      throw .problem(.unsupported, "it is formatted for mapping version \(container[2] >> 4) of Type 4")
    }
    let size = min(container[0...1].bigEndian, Self.mostOfContainer)
    // MLe, and no more than goes through every reader with the status word.
    let mostRead = min(container[3...4].bigEndian, ExchangeLimit.answer - 2)
    guard size >= 15, mostRead >= 15 else { throw .problem(.damaged, "the capability container contradicts itself") }
    // Control TLV blocks. The one that is looked for is the first in all containers that have 15 bytes.
    var offset = 7
    while true {
      try extend(&container, to: offset + 2, size, mostRead, &channel)
      let (kind, end) = (container[offset], offset + 2 + Int(container[offset + 1]))
      if kind == 0x04 || kind == 0x06 {
        guard end == offset + (kind == 0x04 ? 8 : 10) else {
          throw .problem(.damaged, "the capability container does not name the NDEF file")
        }
        try extend(&container, to: end, size, mostRead, &channel)
        return try Type4File(container, control: offset..<end, mostRead: mostRead)
      }
      offset = end
    }
  }

  /// Reads more of the container where it is needed.
  private func extend(
    _ container: inout [UInt8], to end: Int, _ size: Int, _ mostRead: Int, _ channel: inout some TagChannel
  ) throws(TagStop) {
    guard end <= size else { throw .problem(.damaged, "the capability container does not name the NDEF file") }
    while container.count < end {
      let piece = try channel.read(container.count, min(mostRead, size - container.count))
      guard !piece.isEmpty else { throw .problem(.damaged, "the capability container is cut off") }
      container += piece
    }
  }
}

/// The file that holds the message, by its control TLV in the capability container (Type 4 Tag, section 5.1.2).
struct Type4File {
  /// READ BINARY and UPDATE BINARY with a plain offset begin no further behind the file's beginning.
  static let farthestOffset = 0x7FFF

  let identifier: [UInt8]
  /// Bytes, those of the length field included.
  let size: Int
  /// Bytes of the length field: 2, or 4 in mapping 3.0's extended form.
  let lengthSize: Int
  /// The most that one READ BINARY gives, 15 to 246.
  let mostRead: Int
  /// The most bytes in the data field of one UPDATE BINARY, 0 to 245.
  let mostWritten: Int
  let isReadable: Bool
  let isWritable: Bool
  /// Whether there are commands that reach beyond the first 32 KiB.
  let hasFarOffsets: Bool
  /// Where in the container it says who may write.
  let writeAccessOffset: Int

  /// - Parameters:
  ///   - container: at least as far as `control` goes.
  ///   - control: where the TLV is, of type 04 with 8 bytes or of type 06 with 10.
  ///   - mostRead: MLe as far as it is used.
  /// - Throws: `TagStop`, a problem where the TLV names no file that could be read.
  init(_ container: [UInt8], control: Range<Int>, mostRead: Int) throws(TagStop) {
    let value = Array(container[control].dropFirst(2))
    lengthSize = container[control.lowerBound] == 0x06 ? 4 : 2
    identifier = Array(value[0...1])
    guard ![0x0000, 0x3F00, 0x3FFF, 0xE102, 0xE103, 0xFFFF].contains(value[0...1].bigEndian) else {
      throw .problem(.damaged, "the NDEF file has a reserved identifier")
    }
    size = value[2..<2 + lengthSize].bigEndian
    guard size > lengthSize else { throw .problem(.damaged, "the NDEF file has no room for a message") }
    self.mostRead = mostRead
    mostWritten = min(container[5...6].bigEndian, ExchangeLimit.command - 5)
    isReadable = value[2 + lengthSize] == 0x00
    isWritable = value[3 + lengthSize] == 0x00
    hasFarOffsets = container[2] >> 4 == 3
    writeAccessOffset = control.upperBound - 1
  }

  /// Bytes of the longest message: as many as the file holds and commands reach.
  var capacity: Int {
    min((hasFarOffsets ? size : min(size, Self.farthestOffset + 1)) - lengthSize, NDEFLimits.default.messageSize)
  }
}
