import Glibc
import Names
import Rig
import Settings
import Testing

@testable import Mqtt

@Suite struct MqttSettingsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Reads a file with these lines below `[Mqtt]`.
  private func read(_ lines: String, credentials: String? = nil) throws -> MqttSettings {
    var environment = ["XDG_CONFIG_HOME": directory.path]
    environment["CREDENTIALS_DIRECTORY"] = credentials
    let files = MqttFiles(environment: environment)
    try directory.write("[Mqtt]\n\(lines)", to: Names.Files.mqttConfiguration)
    let loaded = try #require(try files.load())
    #expect(loaded.path == directory.file(Names.Files.mqttConfiguration))
    return try MqttSettings(loaded.configuration, from: loaded.path, files: files)
  }

  private func mistake(_ lines: String, credentials: String? = nil) -> String? {
    let error = #expect(throws: KeyFileError.self) { try read(lines, credentials: credentials) }
    return error?.description
  }

  @Test func `the station's name is in the topics and in the client's id`() throws {
    let settings = try read("Broker=mqtts://b\nStation=kiosk-7\nPrefix=a/b\n")
    #expect(settings.identity.clientID == "tagroute-kiosk-7")
    #expect(settings.identity.stateTopic == "a/b/kiosk-7/state")
    #expect(settings.messages.topics.log == "a/b/kiosk-7/log")
    #expect(settings.messages.topics.command(.scan) == "a/b/kiosk-7/command/scan")
  }

  @Test(
    arguments: [
      ("kiosk-7.example.org", "kiosk-7"), ("Büro", "B--ro"), ("a+b#c/d", "a-b-c-d"), ("", nil), (".x", nil), ("é", nil),
      (String(repeating: "a", count: 70), String(repeating: "a", count: 64)),
    ] as [(String, String?)])
  func `a host name becomes a station's name`(name: String, station: String?) {
    #expect(MqttSettings.hostStation(name) == station)
  }

  @Test func `a password is read from its file, without the end of the line`() throws {
    let file = try directory.write("geheim \n", to: "password", mode: 0o600)
    #expect(try read("Broker=mqtts://b\nUser=u\nPasswordFile=\(file)\n").identity.password == "geheim ")
  }

  @Test(arguments: [0o644, 0o640, 0o660, 0o602] as [UInt32])
  func `a secret that others can read or change is refused with the fix`(mode: UInt32) throws {
    let file = try directory.write(String(repeating: "x", count: 32), to: "secret", mode: mode)
    let expected = "\(file): other users can read or change it: chmod 600 \(file)"
    #expect(mistake("Broker=mqtts://b\nUser=u\nPasswordFile=\(file)\n") == expected)
    #expect(mistake("Broker=mqtts://b\nIdKeyFile=\(file)\n") == expected)
  }

  @Test(arguments: ["CAFile", "CertificateFile", "KeyFile"], [0o666, 0o662, 0o660] as [UInt32])
  func `a file that others can change is refused with the fix`(key: String, mode: UInt32) throws {
    let file = try directory.write("x", to: "file", mode: mode)
    let other = try directory.write("x", to: "other", mode: 0o600)
    let pair = ["CertificateFile": "KeyFile", "KeyFile": "CertificateFile"][key].map { "\($0)=\(other)\n" } ?? ""
    let expected =
      key == "KeyFile" && getuid() != 0
      ? "\(file): other users can read or change it: chmod 600 \(file)"
      : "\(file): other users can change it: chmod go-w \(file)"
    #expect(mistake("Broker=mqtts://b\n\(key)=\(file)\n\(pair)") == expected)
    #expect(chmod(file, key == "KeyFile" ? 0o600 : 0o644) == 0)
    _ = try read("Broker=mqtts://b\n\(key)=\(file)\n\(pair)")
  }

  @Test func `a configuration that others can change is refused`() throws {
    let path = try directory.write("[Mqtt]\nBroker=mqtts://b\n", to: "tagroute/mqtt.conf", mode: 0o664)
    let files = MqttFiles(environment: ["XDG_CONFIG_HOME": directory.path])
    #expect(throws: KeyFileError.self) { try files.load() }
    #expect(chmod(path, 0o644) == 0)
    #expect(try files.load()?.path == path)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a file to another user"))
  func `a file of another user is refused`() throws {
    let file = try directory.write("x", to: "file", mode: 0o644)
    #expect(chown(file, 12345, 12345) == 0)
    #expect(mistake("Broker=mqtts://b\nCAFile=\(file)\n")?.contains("belongs to another user") == true)
  }

  @Test func `a key is read whole, and a short one is refused`() throws {
    let file = try directory.write([UInt8](0..<32), to: "key", mode: 0o600)
    #expect(try read("Broker=mqtts://b\nIdKeyFile=\(file)\n").messages.key == [UInt8](0..<32))
    let short = try directory.write([UInt8](0..<31), to: "short", mode: 0o600)
    #expect(mistake("Broker=mqtts://b\nIdKeyFile=\(short)\n")?.contains("has 31 bytes") == true)
  }

  @Test func `the credential of systemd is the password of a user`() throws {
    try directory.write("secret\n", to: "credentials/\(MqttFiles.passwordCredential)", mode: 0o644)
    let credentials = directory.file("credentials")
    #expect(try read("Broker=mqtts://b\nUser=u\n", credentials: credentials).identity.password == "secret")
    #expect(try read("Broker=mqtts://b\n", credentials: credentials).identity.password == nil)
    #expect(try read("Broker=mqtt://localhost\nUser=u\n", credentials: credentials).identity.password == "secret")
    let plain = mistake("Broker=mqtt://broker.example\nUser=u\n", credentials: credentials)
    #expect(plain?.contains("mqtt:// would send the password unencrypted") == true)
  }

  @Test(arguments: ["CAFile", "PasswordFile", "IdKeyFile"])
  func `a file that does not exist is named`(key: String) throws {
    let file = directory.file("none")
    let text = mistake("Broker=mqtts://b\nUser=u\n\(key)=\(file)\n")
    #expect(text?.hasPrefix("\(file): ") == true)
    #expect(text?.contains("\(key)=") == true)
  }

  @Test func `a password with a zero byte, or none, is refused`() throws {
    for bytes: [UInt8] in [[], [0x0A], [0x61, 0, 0x62], [0xFF]] {
      let file = try directory.write(bytes, to: "password", mode: 0o600)
      #expect(mistake("Broker=mqtts://b\nUser=u\nPasswordFile=\(file)\n")?.contains("has no password") == true)
    }
  }

  @Test func `without a file the places are named`() throws {
    let files = MqttFiles(environment: ["HOME": directory.path])
    #expect(files.configurations == ["\(directory.path)/.config/tagroute/mqtt.conf", "/etc/tagroute/mqtt.conf"])
    #expect(files.instruction.contains("  \(directory.path)/.config/tagroute/mqtt.conf\n  /etc/tagroute/mqtt.conf\n"))
  }

  @Test func `the command line has three options`() {
    #expect(MqttArguments([]) == .run)
    #expect(MqttArguments(["--check"]) == .check)
    #expect(MqttArguments(["--version"]) == .print("tagroute-mqtt \(Names.version)"))
    #expect(MqttArguments(["--config", "x"]) == .mistake("unknown argument --config"))
  }
}
