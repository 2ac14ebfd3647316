/// What a driver tells about its reader: the properties of PC/SC part 10, version 2.02.09, 2.6.14.
struct ReaderProperties: Hashable, Sendable {
  /// The USB vendor and product.
  var vendor: UInt16?
  var product: UInt16?
  /// The most bytes of an APDU's data. 0 means that the reader takes only short APDUs.
  var mostAPDUData: UInt32?

  init() {}

  /// Parses the driver's answer: a tag, a length and a value for each property, the lowest byte of the value first. What
  /// follows a malformed property is ignored.
  init(_ answer: [UInt8]) {
    var rest = answer[...]
    while let tag = rest.popFirst(), let length = rest.popFirst(), rest.count >= length {
      let value = rest.prefix(Int(length)).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(Int(length))
      switch (tag, length) {
      case (0x0A, 4): mostAPDUData = UInt32(truncatingIfNeeded: value)
      case (0x0B, 2): vendor = UInt16(truncatingIfNeeded: value)
      case (0x0C, 2): product = UInt16(truncatingIfNeeded: value)
      default: break
      }
    }
  }

  /// CM_IOCTL_GET_FEATURE_REQUEST: which features the driver has.
  static let featureRequest = controlCode(3400)

  /// The control code that asks for the properties, from the answer to `featureRequest` (part 10, 2.3): a tag, a length
  /// and a control code for each feature, the highest byte first. Nil if the driver has no properties.
  static func request(inFeatures answer: [UInt8]) -> UInt32? {
    var rest = answer[...]
    while rest.count >= 6 {
      let feature = Array(rest.prefix(6))
      rest = rest.dropFirst(6)
      guard feature[1] == 4 else { return nil }
      if feature[0] == 0x12 { return feature[2...].reduce(0) { $0 << 8 | UInt32($1) } }
    }
    return nil
  }

  /// SCARD_CTL_CODE of pcsc-lite's reader.h.
  static func controlCode(_ number: UInt32) -> UInt32 { 0x4200_0000 + number }
}
