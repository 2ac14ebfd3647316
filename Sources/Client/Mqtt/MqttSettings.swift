import EventLoop
import Glibc
import Names
import Settings

/// How this station presents itself to the broker.
struct BrokerIdentity: Sendable, Hashable {
  let broker: BrokerAddress
  let version: MqttConfiguration.ProtocolVersion
  /// The client's id, which is the same in each run: the broker keeps the session under it.
  let clientID: String
  let user: String?
  let password: String?
  let caFile: String?
  let certificateFile: String?
  let keyFile: String?
  /// The topic of the last will.
  let stateTopic: String
}

/// All that the program takes from its files.
struct MqttSettings: Sendable, Hashable {
  let identity: BrokerIdentity
  let messages: MessageSettings

  /// Reads the secrets, and takes the host name as the station's name if the file has none.
  init(_ configuration: MqttConfiguration, from path: String, files: MqttFiles) throws(KeyFileError) {
    guard let broker = configuration.broker else {
      throw KeyFileError(file: path, line: nil, problem: "there is no Broker=", remedy: "write Broker=mqtts://HOST")
    }
    guard let station = configuration.station ?? Self.hostStation() else {
      throw KeyFileError(
        file: path, line: nil, problem: "the host name cannot name a station", remedy: "write Station=NAME")
    }
    var password: String?
    if let file = configuration.passwordFile {
      password = try Secret.password(file)
    } else if configuration.user != nil, let directory = files.credentials {
      password = try Secret.credential("\(directory)/\(MqttFiles.passwordCredential)")
    }
    guard password == nil || broker.isEncrypted || broker.isLoopback else {
      throw KeyFileError(
        file: path, line: nil, problem: MqttConfiguration.bareword, remedy: MqttConfiguration.encrypt)
    }
    for (key, file, readers) in [
      ("CAFile=", configuration.caFile, .anyone), ("CertificateFile=", configuration.certificateFile, .anyone),
      ("KeyFile=", configuration.keyFile, .ownerOrRootsGroup),
    ] as [(String, String?, FileTrust.Readers)] {
      if let file { try FileTrust.check(file, of: key, readers: readers) }
    }
    let topics = Topics(prefix: configuration.prefix, station: station)
    messages = MessageSettings(
      station: station, topics: topics, contents: configuration.contents,
      key: try configuration.idKeyFile.map { file throws(KeyFileError) in try Secret.key(file) },
      hasDiscovery: configuration.discovery == .homeassistant,
      takesIDsFromLinks: configuration.discovery == .homeassistant && configuration.tagIDSource == .link,
      liveSeconds: configuration.liveSeconds, hasCommands: configuration.commands)
    identity = BrokerIdentity(
      broker: broker, version: configuration.version, clientID: "tagroute-\(station)", user: configuration.user,
      password: password,
      caFile: configuration.caFile, certificateFile: configuration.certificateFile, keyFile: configuration.keyFile,
      stateTopic: topics.state)
  }

  /// The host name, without its domain. Characters that a topic cannot have become hyphens. Nil if none is left.
  static func hostStation(_ name: String = hostName()) -> String? {
    let label = name.prefix { $0 != "." }
    let bytes = label.utf8.prefix(64).map { MqttConfiguration.isInStation($0) ? $0 : UInt8(ascii: "-") }
    return bytes.contains { $0 != UInt8(ascii: "-") } ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    // One byte less, so the text ends with a zero even if it was cut.
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// The places of the configuration and the secrets of this program.
struct MqttFiles: Sendable, Hashable {
  /// The places of `mqtt.conf`, the most important first. Only the first file that exists is read.
  let configurations: [String]
  /// The directory of the credentials that systemd passes (systemd.exec(5)); nil if there is none.
  let credentials: String?

  static let passwordCredential = "tagroute-mqtt.password"

  /// Uses `XDG_CONFIG_HOME`, `HOME` and `CREDENTIALS_DIRECTORY`.
  init(environment: [String: String]) {
    let base = BaseDirectories(environment: environment)
    configurations =
      [base.configuration.map { "\($0)/\(Names.Files.mqttConfiguration)" }, Names.Files.systemMqttConfiguration]
      .compactMap(\.self)
    credentials = environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Reads the first file that exists. Nil if there is none.
  func load() throws(KeyFileError) -> (path: String, configuration: MqttConfiguration)? {
    for path in configurations {
      guard let file = try KeyFile.load(path) else { continue }
      try FileTrust.check(path, of: "the file")
      var configuration = MqttConfiguration()
      try configuration.merge(file)
      return (path, configuration)
    }
    return nil
  }

  /// What to do if there is no file.
  var instruction: String {
    """
    there is no configuration. Write one of these files:
    \(configurations.map { "  \($0)" }.joined(separator: "\n"))
    It needs at least these two lines:
      [Mqtt]
      Broker=mqtts://HOST
    """
  }
}
