package import NDEF

/// A Wi-Fi network of a tag, as the user is asked about it.
///
/// It never holds the password, so it may be shown and compared. The password stays in the message of the tap until
/// the user has agreed; see ``TypedRecord/network(in:)``.
package struct WiFiOffer: Sendable, Hashable {
  /// The agent never joins such a network.
  package enum Obstacle: String, Sendable, Hashable, CaseIterable {
    /// Each user of the network has an own name and password.
    case enterprise
    /// WEP can be broken within minutes, and NetworkManager drops it.
    case wep
    /// The authentication has bits that Wi-Fi Simple Configuration does not define, or that exclude each other.
    case unknownAuthentication = "unknown-authentication"
    /// The encryption has bits that Wi-Fi Simple Configuration does not define.
    case unknownEncryption = "unknown-encryption"
    /// The password has not the form that the authentication needs.
    case password
  }

  /// 1 to 32 bytes.
  package let ssid: [UInt8]
  /// It needs no password.
  package let isOpen: Bool
  /// Nil if the network may be joined.
  package let obstacle: Obstacle?

  /// Keeps everything but the password.
  package init(_ network: WiFiNetwork) {
    ssid = network.ssid
    isOpen = network.authentication == .open
    obstacle = Obstacle(network)
  }

  /// The name as one line. Bytes that are no visible text are written as `\xE2`, and so are characters that could be
  /// confused with marks around the name. So two networks with different names never look the same because a character
  /// is left out.
  package var name: String {
    guard let text = String(validating: ssid, as: UTF8.self) else {
      return String(ssid.map { WiFiOffer.isPlain($0) ? String(Unicode.Scalar($0)) : WiFiOffer.escaped($0) }.joined())
    }
    var shown = ""
    var marks = 0
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      let isInside = index > 0 && index < scalars.count - 1 && scalars[index - 1] != " "
      marks = WiFiOffer.isMark(scalar) ? marks + 1 : 0
      // A mark without a letter, and the fifth on one letter, is not displayed.
      let mostMarks = index == 0 || scalars[index - 1] == " " ? 0 : 4
      if scalar == " " ? isInside : WiFiOffer.isVisible(scalar) && marks <= mostMarks {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += String(scalar).utf8.map(WiFiOffer.escaped).joined()
      }
    }
    return shown
  }

  private static func escaped(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "\\x" + (digits.count == 1 ? "0" : "") + digits
  }

  /// Printable ASCII, without the space, the quotation mark and the backslash.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .nonspacingMark || scalar.properties.generalCategory == .enclosingMark
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isPlain(UInt8(truncatingIfNeeded: scalar.value)) }
    guard !scalar.properties.isDefaultIgnorableCodePoint, scalar != "\u{2800}" else { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .nonspacingMark, .spacingMark,
      .decimalNumber, .letterNumber, .otherNumber, .mathSymbol, .currencySymbol, .otherSymbol:
      return true
    // Punctuation outside ASCII and modifiers have characters that look like quotation marks.
    default: return false
    }
  }
}

extension WiFiOffer.Obstacle {
  /// Bits of Wi-Fi Simple Configuration 2.0.5, section 12, that are known and not used.
  private static let sharedKey: UInt16 = 0x0004
  private static let enterpriseBits: UInt16 = 0x0008 | 0x0010
  private static let wepBit: UInt16 = 0x0002

  fileprivate init?(_ network: WiFiNetwork) {
    let personal: WiFiNetwork.Authentication = [.wpa, .wpa2]
    let authentication = network.authentication
    let other = authentication.subtracting(personal).rawValue
    // A tag without any bit does not tell the authentication.
    if authentication != .open, other != 0 || authentication.isEmpty {
      let known = WiFiOffer.Obstacle.enterpriseBits
      if other & known != 0, other & ~known == 0 {
        self = .enterprise
      } else if authentication.rawValue == WiFiOffer.Obstacle.sharedKey {
        self = .wep
      } else {
        self = .unknownAuthentication
      }
      return
    }
    // NetworkManager finds out the cipher itself, so known combinations do not matter.
    let ciphers: WiFiNetwork.Encryption = [.none, .tkip, .aes]
    let otherCiphers = network.encryption.subtracting(ciphers).rawValue
    if otherCiphers == WiFiOffer.Obstacle.wepBit {
      self = .wep
    } else if otherCiphers != 0 {
      self = .unknownEncryption
    } else if network.keyProblem != nil {
      self = .password
    } else {
      return nil
    }
  }
}

extension TypedRecord {
  var holdsWiFi: Bool { type == .media(WiFiRecord.type) }

  /// The first one, with its password. Nil if the message is not that of the same tap.
  package func network(in message: NDEFMessage) throws(NDEFError) -> WiFiNetwork? {
    guard holdsWiFi, payload(in: message) != nil else { return nil }
    return try WiFiRecord(message.records[number - 1]).networks.first
  }
}

extension Registry {
  /// Decides about a record with Wi-Fi networks that no handler takes. It never becomes a file: the password is in it.
  ///
  /// Neither the reason nor a step has the name of the network. The reason goes to the log.
  func route(
    forWiFi record: TypedRecord, in message: NDEFMessage, _ reason: String, _ steps: Explanation
  ) -> Route {
    var steps = steps
    let network: WiFiNetwork?
    do throws(NDEFError) {
      network = try record.network(in: message)
    } catch {
      let finding = "the Wi-Fi settings of record \(record.number) cannot be decoded: \(error.description)"
      steps.add("wifi", finding)
      return .none(nil, "\(reason), and \(finding)", steps)
    }
    guard let offer = network.map(WiFiOffer.init) else {
      return .none(nil, "\(reason), and record \(record.number) has no Wi-Fi network", steps)
    }
    if let obstacle = offer.obstacle {
      let finding = "the first Wi-Fi network of record \(record.number) cannot be used: \(obstacle.finding)"
      steps.add("wifi", finding)
      var route = Route.none(nil, "\(reason), and \(finding)", steps)
      route.network = offer
      return route
    }
    steps.add("wifi", "the first Wi-Fi network of the record \(offer.isOpen ? "is open" : "has a password")")
    return Route(
      kind: .wifi, uri: nil, handler: nil, candidates: [], claimants: steps.losers,
      claimantsLeftOut: steps.leftOut, trusted: true,
      reason: "no handler takes the type; NetworkManager connects to the network if the user agrees",
      steps: steps.steps, network: offer)
  }
}

extension WiFiOffer.Obstacle {
  /// A part of a sentence, in English.
  fileprivate var finding: String {
    switch self {
    case .enterprise: "each of its users needs a name and a password of their own"
    case .wep: "it uses WEP, which is not secure"
    case .unknownAuthentication: "its authentication is unknown"
    case .unknownEncryption: "its encryption is unknown"
    case .password: "its password does not suit its authentication"
    }
  }
}
