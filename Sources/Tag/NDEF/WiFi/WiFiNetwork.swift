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
