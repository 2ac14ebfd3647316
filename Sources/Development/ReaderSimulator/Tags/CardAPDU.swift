/// A command APDU (ISO/IEC 7816-4, section 5.1), short or extended.
struct CardAPDU: Equatable {
  let instructionClass: UInt8
  let instruction: UInt8
  let parameter1: UInt8
  let parameter2: UInt8
  let data: [UInt8]
  /// The most bytes that the reader accepts (Ne); nil if the command does not say.
  let expectedLength: Int?

  /// Nil if the length fields contradict the length of the command.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 4 else { return nil }
    (instructionClass, instruction, parameter1, parameter2) = (bytes[0], bytes[1], bytes[2], bytes[3])
    let body = Array(bytes.dropFirst(4))
    switch body.count {
    case 0:
      data = []
      expectedLength = nil
    case 1:
      data = []
      expectedLength = Self.length(body[0])
    case 3 where body[0] == 0:
      data = []
      expectedLength = Self.length(body[1], body[2])
    default:
      let isExtended = body[0] == 0
      guard !isExtended || body.count > 3 else { return nil }
      let count = isExtended ? Int(body[1]) << 8 | Int(body[2]) : Int(body[0])
      let rest = body.dropFirst(isExtended ? 3 : 1)
      guard count > 0, rest.count >= count else { return nil }
      data = Array(rest.prefix(count))
      let trailer = Array(rest.dropFirst(count))
      switch (trailer.count, isExtended) {
      case (0, _): expectedLength = nil
      case (1, false): expectedLength = Self.length(trailer[0])
      case (2, true): expectedLength = Self.length(trailer[0], trailer[1])
      default: return nil
      }
    }
  }

  private static func length(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }

  private static func length(_ high: UInt8, _ low: UInt8) -> Int {
    let value = Int(high) << 8 | Int(low)
    return value == 0 ? 65_536 : value
  }
}

/// The offset and the data of READ BINARY or UPDATE BINARY.
struct BinaryAccess: Equatable {
  let offset: Int
  let data: [UInt8]
  /// Whether offset and data are data objects (odd instruction codes, ISO/IEC 7816-4, section 11.3), which reach beyond
  /// 32 KiB.
  let isObject: Bool

  /// Nil if the offset or the data cannot be parsed.
  init?(_ command: CardAPDU, extendedOffsets: Bool) {
    guard command.instruction & 1 == 1 else {
      guard command.parameter1 & 0x80 == 0 else { return nil }
      offset = Int(command.parameter1) << 8 | Int(command.parameter2)
      data = command.data
      isObject = false
      return
    }
    guard extendedOffsets, command.parameter1 == 0, command.parameter2 == 0,
      let (offsetBytes, rest) = Self.split(0x54, command.data[...]), (1...4).contains(offsetBytes.count)
    else { return nil }
    offset = offsetBytes.reduce(0) { $0 << 8 | Int($1) }
    isObject = true
    if rest.isEmpty {
      data = []
    } else {
      guard let (contents, behind) = Self.split(0x53, rest), behind.isEmpty else { return nil }
      data = Array(contents)
    }
  }

  static func object(_ tag: UInt8, _ data: [UInt8]) -> [UInt8] {
    let length = UInt8(truncatingIfNeeded: data.count)
    switch data.count {
    case 0...0x7F: return [tag, length] + data
    case 0x80...0xFF: return [tag, 0x81, length] + data
    default: return [tag, 0x82, UInt8(truncatingIfNeeded: data.count >> 8), length] + data
    }
  }

  private static func split(_ tag: UInt8, _ bytes: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    let bytes = Array(bytes)
    guard bytes.count >= 2, bytes[0] == tag else { return nil }
    let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
    guard lengthBytes <= 2, bytes.count >= 2 + lengthBytes else { return nil }
    let length = lengthBytes == 0 ? Int(bytes[1]) : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
    let contents = bytes[(2 + lengthBytes)...]
    guard contents.count >= length else { return nil }
    return (contents.prefix(length), contents.dropFirst(length))
  }
}

/// A data object: a tag of one or two bytes, a length and a value (ISO/IEC 7816-4, section 5.2.2).
struct BERObject: Equatable {
  let tag: UInt16
  let value: [UInt8]

  /// The objects one after the other; nil if a length is wrong.
  static func objects(in bytes: [UInt8]) -> [BERObject]? {
    var rest = bytes[...]
    var objects: [BERObject] = []
    while let first = rest.popFirst() {
      var tag = UInt16(first)
      if first & 0x1F == 0x1F {
        guard let second = rest.popFirst() else { return nil }
        tag = tag << 8 | UInt16(second)
      }
      guard var length = rest.popFirst().map({ Int($0) }) else { return nil }
      if length > 0x80 {
        let count = length - 0x80
        guard count <= 2, rest.count >= count else { return nil }
        length = BigEndian.number(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      guard rest.count >= length else { return nil }
      objects.append(BERObject(tag: tag, value: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return objects
  }

  init(tag: UInt16, value: [UInt8]) { (self.tag, self.value) = (tag, value) }

  init(tag: UInt16, holding objects: [BERObject]) { self.init(tag: tag, value: objects.flatMap(\.bytes)) }

  var bytes: [UInt8] {
    let length = UInt8(truncatingIfNeeded: value.count)
    let lengthBytes: [UInt8] =
      switch value.count {
      case 0...0x7F: [length]
      case 0x80...0xFF: [0x81, length]
      default: [0x82, UInt8(truncatingIfNeeded: value.count >> 8), length]
      }
    return (tag > 0xFF ? BigEndian.bytes(tag) : [UInt8(truncatingIfNeeded: tag)]) + lengthBytes + value
  }
}
