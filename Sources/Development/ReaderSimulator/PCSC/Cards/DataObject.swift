/// A data object: a tag of one or two bytes, a length and a value (ISO/IEC 7816-4, section 5.2.2).
struct DataObject: Equatable {
  let tag: UInt16
  let value: [UInt8]

  /// The objects one after the other; nil if a length is wrong.
  static func objects(in bytes: [UInt8]) -> [DataObject]? {
    var rest = bytes[...]
    var objects: [DataObject] = []
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
      objects.append(DataObject(tag: tag, value: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return objects
  }

  init(tag: UInt16, value: [UInt8]) { (self.tag, self.value) = (tag, value) }

  /// An object that holds other objects.
  init(tag: UInt16, holding objects: [DataObject]) { self.init(tag: tag, value: objects.flatMap(\.bytes)) }

  /// The object as bytes.
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
