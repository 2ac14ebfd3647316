import Glibc
import Presence
import Rig
import Settings
import Testing

/// The files in `Config/` are the reference. They show every key with its default.
@Suite struct ShippedFilesTests {
  /// Reads a shipped file without the `#` in front of each key.
  private func uncommented(_ name: String) throws -> KeyFile {
    let path = "\(repositoryRoot)/Config/\(name)"
    let file = try #require(fopen(path, "r"), "\(path) is missing")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let text = lines.map { $0.hasPrefix("#") && !$0.hasPrefix("# ") && $0.contains("=") ? $0.dropFirst() : $0 }
    return try KeyFile(bytes: Array(text.joined(separator: "\n").utf8), file: path)
  }

  private func keys(_ file: KeyFile) -> [String: [String]] {
    Dictionary(uniqueKeysWithValues: file.groups.map { ($0.name, $0.entries.map(\.key)) })
  }

  @Test func `the file of the daemon shows every key with its default`() throws {
    let file = try uncommented("tagroute.conf")
    #expect(keys(file) == DaemonConfiguration.schema.keys)
    // In this configuration no key has its default. The file restores all of them.
    var configuration = DaemonConfiguration()
    configuration.devices = ["pn53x_usb"]
    configuration.backend = .pcsc
    configuration.feedback = true
    configuration.pollInterval = .seconds(1)
    configuration.idlePollInterval = .seconds(1)
    configuration.sessionLimit = .seconds(1)
    configuration.technologies = []
    configuration.sessions = .any
    configuration.stationUser = LocalUser(name: "root", uid: 0)
    configuration.removalDelay = .zero
    configuration.scan.whenLocked = .hold
    configuration.scan.lockDetection = .strict
    configuration.smartPosters = false
    try configuration.merge(file)
    #expect(configuration == DaemonConfiguration())
  }

  @Test func `the file of the agent shows every key with its default`() throws {
    let file = try uncommented("agent.conf")
    #expect(keys(file) == AgentConfiguration.schema.keys)
    var configuration = AgentConfiguration()
    configuration.schemes = []
    configuration.smartPosters = false
    configuration.suspendForCamera = true
    configuration.notificationTimeout = 0
    configuration.sound = .on
    configuration.bareTags = .show
    configuration.inbox = false
    configuration.retentionDays = 1
    configuration.maximumTaps = 1
    try configuration.merge(file)
    #expect(configuration == AgentConfiguration())
  }

  @Test func `the file of tagroute-mqtt shows every key with its default`() throws {
    let file = try uncommented("mqtt/mqtt.conf")
    #expect(keys(file) == MqttConfiguration.schema.keys)
    // An empty value is shown for a default that a file cannot name, such as the host name.
    let shown = file.groups.flatMap(\.entries).filter { !$0.raw.isEmpty }.map { "\($0.key)=\($0.raw)\n" }
    var configuration = MqttConfiguration()
    configuration.prefix = "other"
    configuration.contents = .yes
    configuration.discovery = .homeassistant
    configuration.liveSeconds = 1
    configuration.commands = true
    let text = "[Mqtt]\nBroker=mqtts://broker.example\n" + shown.joined()
    try configuration.merge(try KeyFile(bytes: Array(text.utf8), file: "mqtt.conf"))
    var expected = MqttConfiguration()
    expected.broker = BrokerAddress("mqtts://broker.example")
    #expect(configuration == expected)
  }
}
