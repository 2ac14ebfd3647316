/// The attributes in a payload or in a credential (Wi-Fi Simple Configuration 2.0.5, section 12).
struct WiFiAttributes {
  struct Attribute {
    let type: UInt16
    /// A slice of the payload, with its indices.
    let value: ArraySlice<UInt8>
    /// The position of the attribute in the payload.
    let offset: Int
  }

  static let authentication: UInt16 = 0x1003
  static let credential: UInt16 = 0x100E
  static let encryption: UInt16 = 0x100F
  static let address: UInt16 = 0x1020
  static let index: UInt16 = 0x1026
  static let key: UInt16 = 0x1027
  static let ssid: UInt16 = 0x1045

  static let ssidLength = 1...32
  static let keyLength = 0...64

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next attribute; nil at the end.
  mutating func next() throws(NDEFError) -> Attribute? {
    let start = rest.startIndex
    guard !rest.isEmpty else { return nil }
    guard rest.count >= 4 else {
      throw NDEFError(.truncated, at: start, "the payload ends within the type and length of an attribute")
    }
    let type = UInt16(rest[start]) << 8 | UInt16(rest[start + 1])
    let length = Int(rest[start + 2]) << 8 | Int(rest[start + 3])
    rest = rest.dropFirst(4)
    guard length <= rest.count else {
      throw NDEFError(.truncated, at: start + 2, "an attribute is longer than what is left")
    }
    defer { rest = rest.dropFirst(length) }
    return Attribute(type: type, value: rest.prefix(length), offset: start)
  }

  /// An attribute as it is on the tag. The value has less than 65,536 bytes.
  static func bytes(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    bigEndian(type) + bigEndian(UInt16(truncatingIfNeeded: value.count)) + value
  }

  static func bigEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }
}

extension WiFiNetwork {
  /// Reads a credential.
  init(_ credential: WiFiAttributes.Attribute) throws(NDEFError) {
    var values: [UInt16: ArraySlice<UInt8>] = [:]
    var attributes = WiFiAttributes(credential.value)
    while let attribute = try attributes.next() {
      guard let lengths = Self.lengths(of: attribute.type) else { continue }
      guard lengths.contains(attribute.value.count) else {
        throw NDEFError(.payload, at: attribute.offset + 2, "an attribute of a network has the wrong length")
      }
      guard values.updateValue(attribute.value, forKey: attribute.type) == nil else {
        throw NDEFError(.nestedRecord, at: attribute.offset, "an attribute of a network occurs twice")
      }
    }
    guard let ssid = values[WiFiAttributes.ssid] else {
      throw NDEFError(.nestedRecord, at: credential.offset, "a network has no name")
    }
    func number(_ type: UInt16) -> UInt16? { values[type].map { $0.reduce(0) { $0 << 8 | UInt16($1) } } }
    // The index and the address tell nothing that a station needs.
    self.init(
      ssid: Array(ssid), authentication: number(WiFiAttributes.authentication).map(Authentication.init),
      encryption: number(WiFiAttributes.encryption).map(Encryption.init),
      key: Array(values[WiFiAttributes.key] ?? []))
  }

  /// The lengths that an attribute may have, in bytes; nil for an attribute that is skipped.
  private static func lengths(of type: UInt16) -> ClosedRange<Int>? {
    switch type {
    case WiFiAttributes.ssid: WiFiAttributes.ssidLength
    case WiFiAttributes.key: WiFiAttributes.keyLength
    case WiFiAttributes.authentication, WiFiAttributes.encryption: 2...2
    default: nil
    }
  }

  /// The value of the credential. The index is 1 and the address the one of any station, as on tags by other programs.
  var attributes: [UInt8] {
    WiFiAttributes.bytes(WiFiAttributes.index, [1]) + WiFiAttributes.bytes(WiFiAttributes.ssid, ssid)
      + WiFiAttributes.bytes(WiFiAttributes.authentication, WiFiAttributes.bigEndian(authentication.rawValue))
      + WiFiAttributes.bytes(WiFiAttributes.encryption, WiFiAttributes.bigEndian(encryption.rawValue))
      + WiFiAttributes.bytes(WiFiAttributes.key, key)
      + WiFiAttributes.bytes(WiFiAttributes.address, [UInt8](repeating: 0xFF, count: 6))
  }
}
