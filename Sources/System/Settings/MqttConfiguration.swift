/// The settings of `tagroute-mqtt`, from `mqtt.conf`.
package struct MqttConfiguration: KeyFileConfiguration {
  /// Which part of a tag's contents is published.
  package enum Contents: String, Sendable, CaseIterable {
    case no
    /// A hash of the message, which tells messages apart.
    case hash
    case yes
  }

  /// What names a tag to Home Assistant.
  package enum TagIDSource: String, Sendable, CaseIterable {
    /// The id in the link that an app of Home Assistant has written on the tag, else the UID.
    case link
    case uid
  }

  package enum ProtocolVersion: String, Sendable, CaseIterable {
    /// MQTT 5, and MQTT 3.1.1 with a broker that does not know it.
    case auto
    /// Only MQTT 5.
    case five = "5"
    /// Only MQTT 3.1.1.
    case threeOneOne = "3.1.1"
  }

  package enum Discovery: String, Sendable, CaseIterable {
    /// For Home Assistant.
    case homeassistant
    case none
  }

  /// Nil until a file names it.
  package var broker: BrokerAddress?
  package var version = ProtocolVersion.auto
  /// The name of this machine in topics; nil for the host name.
  package var station: String?
  /// The first part of all topics.
  package var prefix = "tagroute"
  package var contents = Contents.no
  /// The file with the key that replaces UIDs by hashes; nil if UIDs are published.
  package var idKeyFile: String?
  package var discovery = Discovery.none
  package var tagIDSource = TagIDSource.link
  /// How long a tap is fresh enough for the topic `tap`, in seconds.
  package var liveSeconds = 10
  /// Whether the broker's clients may send commands.
  package var commands = false
  /// The user name at the broker; nil for none.
  package var user: String?
  /// The file with the password; nil for none, or for the credential that systemd passes.
  package var passwordFile: String?
  /// The certificates of the authorities that may vouch for the broker, PEM; nil for those of the system.
  package var caFile: String?
  /// The certificate of this station, PEM; nil for none.
  package var certificateFile: String?
  /// The private key of that certificate, PEM; nil for none.
  package var keyFile: String?

  package init() {}

  private static let group = "Mqtt"

  static let settings: [Setting<MqttConfiguration>] = [
    Setting(group, "Broker", \.broker) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry(group, "Broker") else { return }
      let text = try file.string(entry)
      guard let broker = BrokerAddress(text) else {
        // The value may contain a password.
        throw text.contains("@")
          ? file.mistake(entry, "Broker= has a user name", "write the name to User=, the password to a PasswordFile=")
          : file.mistake(
            entry, "\(KeyFile.quoted(entry)) is not the address of a broker",
            "write mqtts://HOST or mqtts://HOST:PORT, or mqtt:// for a connection without encryption")
      }
      configuration.broker = broker
    },
    .choice(group, "Version", \.version),
    Setting(group, "Station", \.station) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry(group, "Station") else { return }
      let station = try file.string(entry)
      guard isStation(station) else {
        throw file.mistake(
          entry, "\(KeyFile.quoted(entry)) is not a name for a station",
          "write 1 to 64 of the characters A-Z a-z 0-9 - and _")
      }
      configuration.station = station
    },
    Setting(group, "Prefix", \.prefix) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry(group, "Prefix") else { return }
      let prefix = try file.string(entry)
      guard isPrefix(prefix) else {
        throw file.mistake(
          entry, "\(KeyFile.quoted(entry)) cannot begin a topic",
          "write at most 100 bytes without + and #, and without a slash or $ at the start or a slash at the end")
      }
      configuration.prefix = prefix
    },
    .choice(group, "Contents", \.contents),
    path("IdKeyFile", \.idKeyFile),
    .choice(group, "Discovery", \.discovery),
    .choice(group, "TagIds", \.tagIDSource),
    .number(group, "LiveSeconds", \.liveSeconds, in: 1...3600, unit: "seconds"),
    .flag(group, "Commands", \.commands),
    Setting(group, "User", \.user) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry(group, "User") else { return }
      let user = try file.string(entry)
      guard (1...256).contains(user.utf8.count), !user.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
        throw file.mistake(entry, "User= is not a user name", "write 1 to 256 bytes without control characters")
      }
      configuration.user = user
    },
    path("PasswordFile", \.passwordFile),
    path("CAFile", \.caFile),
    path("CertificateFile", \.certificateFile),
    path("KeyFile", \.keyFile),
  ]

  private static func path(
    _ key: String, _ path: any WritableKeyPath<MqttConfiguration, String?> & Sendable
  ) -> Setting<MqttConfiguration> {
    Setting(group, key, path) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry(group, key) else { return }
      let text = try file.string(entry)
      guard text.hasPrefix("/"), text.utf8.count <= 4096 else {
        throw file.mistake(entry, "\(KeyFile.quoted(entry)) is not an absolute path", "write one, which starts with /")
      }
      configuration[keyPath: path] = text
    }
  }

  package static let schema: KeyFileSchema = schema(of: settings)

  /// Throws also if the values do not fit together.
  package mutating func merge(_ file: KeyFile) throws(KeyFileError) {
    try merge(file, Self.settings)
    try check(file)
  }

  package func keys(differingFrom other: Self) -> [String] { keys(differingFrom: other, Self.settings) }

  /// Checks what depends on several keys.
  private func check(_ file: KeyFile) throws(KeyFileError) {
    guard let broker else {
      throw KeyFileError(
        file: file.file, line: file.group(Self.group)?.line, problem: "there is no Broker=",
        remedy: "write Broker=mqtts://HOST below [Mqtt]")
    }
    func mistake(_ key: String, _ problem: String, _ remedy: String) throws(KeyFileError) {
      guard let entry = file.entry(Self.group, key) else { return }
      throw file.mistake(entry, problem, remedy)
    }
    if passwordFile != nil && user == nil { try mistake("PasswordFile", "a password needs a user", "add User=") }
    if certificateFile != nil && keyFile == nil {
      try mistake("CertificateFile", "a certificate needs its private key", "add KeyFile=")
    }
    if keyFile != nil && certificateFile == nil {
      try mistake("KeyFile", "a private key needs its certificate", "add CertificateFile=")
    }
    guard !broker.isEncrypted else { return }
    for (key, value) in [("CAFile", caFile), ("CertificateFile", certificateFile)] where value != nil {
      try mistake(key, "mqtt:// has no encryption, so certificates have no effect", "write Broker=mqtts://HOST")
    }
    guard !broker.isLoopback else { return }
    try mistake("PasswordFile", Self.bareword, Self.encrypt)
  }

  /// Why a password is not sent without encryption.
  package static let bareword = "mqtt:// would send the password unencrypted"
  /// The remedy for ``bareword``.
  package static let encrypt = "write Broker=mqtts://HOST; only localhost may do without"

  /// It is one level of a topic, and part of a client's id.
  package static func isStation(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isInStation)
  }

  package static func isInStation(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// MQTT 5, section 4.7. Topics that start with $ belong to the broker.
  private static func isPrefix(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count) && !text.hasPrefix("/") && !text.hasSuffix("/") && !text.hasPrefix("$")
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "+" && $0 != "#" && !(0x7F...0x9F ~= $0.value) }
  }
}

package struct BrokerAddress: Sendable, Hashable, CustomStringConvertible {
  /// If true, the broker's certificate is verified too.
  package let isEncrypted: Bool
  /// A host name, an IPv4 address, or an IPv6 address without brackets.
  package let host: String
  package let port: UInt16

  /// The defaults.
  private static let ports: [(scheme: String, isEncrypted: Bool, port: UInt16)] = [
    ("mqtts://", true, 8883), ("mqtt://", false, 1883),
  ]

  /// `mqtts://HOST[:PORT]` or `mqtt://HOST[:PORT]`, with an IPv6 address in brackets. Nil for any other text, also with
  /// a user name, a password or a path.
  package init?(_ text: String) {
    guard text.utf8.count <= 300, let scheme = Self.ports.first(where: { text.hasPrefix($0.scheme) }) else {
      return nil
    }
    let authority = text.dropFirst(scheme.scheme.count)
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      guard host.utf8.allSatisfy({ Self.isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
        host.contains(":")
      else { return nil }
      rest = authority[authority.index(after: end)...]
    } else {
      let end = authority.firstIndex(of: ":") ?? authority.endIndex
      host = String(authority[..<end])
      guard (1...253).contains(host.utf8.count), !host.hasPrefix("-"), host.utf8.allSatisfy(Self.isInName) else {
        return nil
      }
      rest = authority[end...]
    }
    isEncrypted = scheme.isEncrypted
    guard !rest.isEmpty else {
      port = scheme.port
      return
    }
    guard rest.popFirst() == ":" else { return nil }
    guard rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(rest), number > 0 else {
      return nil
    }
    port = number
  }

  /// Whether the name or address always means this machine.
  package var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  /// Always with the port.
  package var description: String {
    "\(isEncrypted ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
