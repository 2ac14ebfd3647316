import EventLoop
import Names
import Settings

/// Where the configuration and the secrets of this program are.
struct MqttFiles: Sendable, Hashable {
  /// The places of `mqtt.conf`, the most important first. Only the first file that exists is read.
  let configurations: [String]
  /// The directory of the credentials that systemd passes (systemd.exec(5)); nil if there is none.
  let credentials: String?

  /// The credential with the password.
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
