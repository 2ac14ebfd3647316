/// Networks to connect to (Wi-Fi Simple Configuration 2.0.5; media type `application/vnd.wfa.wsc`).
///
/// The payload is a list of attributes: a type and a length of two bytes each, most significant byte first, and the
/// value. Attributes come in any order. Unknown ones are skipped.
public struct WiFiRecord: Sendable, Hashable {
  /// The media type of such records.
  public static let type = "application/vnd.wfa.wsc"
  /// The most networks in a record.
  public static let mostNetworks = 16

  /// The networks, at least one.
  public var networks: [WiFiNetwork]

  /// Makes a view of networks.
  ///
  /// - Parameter networks: The networks, 1 to ``mostNetworks``.
  public init(_ networks: [WiFiNetwork]) { self.networks = networks }

  /// Reads a record.
  ///
  /// - Parameter record: A record of the media type `application/vnd.wfa.wsc`, in any case.
  /// - Throws: ``NDEFError`` if the record has another type, an attribute ends behind its container or has the wrong
  ///   length, an attribute of a network occurs twice, or there is no network or more than ``mostNetworks``. The offset
  ///   is in the payload.
  public init(_ record: NDEFRecord) throws(NDEFError) {
    guard record.isMedia(Self.type) else {
      throw NDEFError(.wrongType, at: 0, "the record has no Wi-Fi networks")
    }
    networks = []
    var attributes = WiFiAttributes(record.payload[...])
    while let attribute = try attributes.next() {
      guard attribute.type == WiFiAttributes.credential else { continue }
      guard networks.count < Self.mostNetworks else {
        throw NDEFError(.limit, at: attribute.offset, "the record has more networks than are accepted")
      }
      networks.append(try WiFiNetwork(attribute))
    }
    guard !networks.isEmpty else {
      throw NDEFError(.nestedRecord, at: record.payload.count, "the record has no network")
    }
  }

  /// Makes a record from this view.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if there is no network or more than ``mostNetworks``, a name does not have 1 to 32 bytes,
  ///   or a network has a ``WiFiNetwork/keyProblem``. The offset is in the payload.
  public func record(id: [UInt8] = []) throws(NDEFError) -> NDEFRecord {
    var payload: [UInt8] = []
    guard (1...Self.mostNetworks).contains(networks.count) else {
      throw NDEFError(.limit, at: 0, "a record has 1 to \(Self.mostNetworks) networks")
    }
    for network in networks {
      guard WiFiAttributes.ssidLength.contains(network.ssid.count) else {
        throw NDEFError(.payload, at: payload.count, "the name of a network has 1 to 32 bytes")
      }
      if let problem = network.keyProblem { throw NDEFError(.payload, at: payload.count, problem) }
      payload += WiFiAttributes.bytes(WiFiAttributes.credential, network.attributes)
    }
    return try .media(Self.type, id: id, payload: payload)
  }
}

/// The name and key of a Wi-Fi network: a credential of Wi-Fi Simple Configuration 2.0.5 (section 8.1, "Credential").
///
/// Decoding checks the length of each field. It does not check that the key suits the authentication, because tags
/// with other combinations exist; see ``keyProblem``.
public struct WiFiNetwork: Sendable, Hashable {
  /// How stations authenticate: bits of Wi-Fi Simple Configuration 2.0.5, section 12, "Authentication Type". The
  /// specification has no value for WPA3. A network with both WPA2 and WPA3 has the value of WPA2.
  public struct Authentication: OptionSet, Sendable, Hashable {
    /// The bits on the tag.
    public let rawValue: UInt16

    /// Makes a value.
    ///
    /// - Parameter rawValue: The bits on the tag.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No authentication.
    public static let open = Authentication(rawValue: 0x0001)
    /// WPA with a passphrase.
    public static let wpa = Authentication(rawValue: 0x0002)
    /// WPA2 with a passphrase.
    public static let wpa2 = Authentication(rawValue: 0x0020)
  }

  /// How data is encrypted: bits of Wi-Fi Simple Configuration 2.0.5, section 12, "Encryption Type".
  public struct Encryption: OptionSet, Sendable, Hashable {
    /// The bits on the tag.
    public let rawValue: UInt16

    /// Makes a value.
    ///
    /// - Parameter rawValue: The bits on the tag.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No encryption.
    public static let none = Encryption(rawValue: 0x0001)
    /// TKIP, of WPA.
    public static let tkip = Encryption(rawValue: 0x0004)
    /// AES, of WPA2.
    public static let aes = Encryption(rawValue: 0x0008)
  }

  /// The name of the network (SSID): 1 to 32 bytes, usually UTF-8.
  public var ssid: [UInt8]
  /// How stations authenticate. If the tag does not say it, this follows from the key.
  public var authentication: Authentication
  /// How data is encrypted. If the tag does not say it, this follows from the key.
  public var encryption: Encryption
  /// The passphrase of 8 to 63 ASCII characters, or a key of 64 hexadecimal digits; empty for an open network. A tag
  /// may hold any 0 to 64 bytes.
  public var key: [UInt8]

  /// Makes a network with WPA2 and AES, or an open one.
  ///
  /// - Parameters:
  ///   - ssid: The name of the network.
  ///   - passphrase: The passphrase or key; nil for an open network.
  public init(ssid: String, passphrase: String?) {
    self.ssid = Array(ssid.utf8)
    key = passphrase.map { Array($0.utf8) } ?? []
    (authentication, encryption) = passphrase == nil ? (.open, .none) : (.wpa2, .aes)
  }

  init(ssid: [UInt8], authentication: Authentication?, encryption: Encryption?, key: [UInt8]) {
    self.ssid = ssid
    // Some writers end a password as in C. wpa_supplicant ignores that, too.
    self.key = (9...64).contains(key.count) && key.last == 0 ? key.dropLast() : key
    self.authentication = authentication ?? (key.isEmpty ? .open : .wpa2)
    self.encryption = encryption ?? (key.isEmpty ? .none : .aes)
  }

  /// The name as text; nil if it is not UTF-8.
  public var name: String? { try? String(utf8: ssid, from: 0) }

  /// Why the key does not suit the authentication, as a sentence without an end; nil if it does (IEEE 802.11-2016,
  /// annex J.4).
  public var keyProblem: String? {
    if authentication.isDisjoint(with: [.wpa, .wpa2]) {
      guard authentication == .open else { return "the authentication is neither open nor WPA nor WPA2" }
      return key.isEmpty ? nil : "an open network has no password"
    }
    switch key.count {
    case 8...63:
      return key.allSatisfy { (0x20...0x7E).contains($0) } ? nil : "a password has printable ASCII characters only"
    case 64: return key.allSatisfy(\.isHexadecimalDigit) ? nil : "a key of 64 characters has hexadecimal digits only"
    default: return "a password has 8 to 63 characters"
    }
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
  }
}

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
