import Bus
import Glibc
import TestKit
import Testing

/// A broker that cannot be trusted, or that does not trust the station. The tap waits, and the state says what to do.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct AccessTests {
  enum BadCertificate: String, CaseIterable, Sendable { case anotherAuthority, expired, anotherHost }

  /// Gives a tap, waits for a reason with these words, and checks that the tap waits.
  private func isRefused(_ stage: Stage, _ tap: SampleTap, _ words: String) async throws {
    try await stage.give(tap)
    let state = try await stage.station.waits { $0.reason.contains(words) }
    print("| refused | \(state.name): \(state.reason) |")
    #expect(try await stage.station.outgoing()["waiting"]?.asUInt32 == 1)
    #expect(try await stage.referee.messages().filter { $0.tap != nil }.isEmpty)
  }

  @Test(arguments: BadCertificate.allCases)
  func `a broker with a bad certificate gets nothing`(kind: BadCertificate) async throws {
    let (authority, foreign) = (try await MqttAuthority(), try await MqttAuthority())
    var options = Mosquitto.Options()
    options.certificate =
      switch kind {
      case .anotherAuthority: authority.valid
      case .expired: authority.expired
      case .anotherHost: authority.elsewhere
      }
    var installation = Installation.Options()
    installation.reader = .others
    // `CAFile=` alone counts.
    installation.environment = ["SSL_CERT_FILE": authority.file, "SSL_CERT_DIR": authority.folder]
    let stage = try await Stage(options, options: installation)
    let proxy = try await MqttProxy(to: stage.broker.tlsSocket)
    let address = "mqtts://localhost:\(proxy.port)"
    let trusted = kind == .anotherAuthority ? foreign.file : authority.file
    try stage.station.configure(broker: address, [Stage.live, "CAFile=\(trusted)"])
    try await stage.start(connected: false)
    let tap = SampleTap(1)
    try await isRefused(stage, tap, "certificate")

    try await stage.station.endMqtt()
    try stage.station.configure(broker: address, [Stage.live, "CAFile=\(authority.file)"])
    let mark = await stage.referee.mark()
    try await stage.broker.kill()
    try await stage.broker.use { $0.certificate = authority.valid }
    try await stage.broker.start()
    try await stage.referee.subscribed(after: mark)
    try await stage.startMqtt()
    try await stage.check("certificate: \(kind.rawValue), then a good one", [tap])
  }

  @Test func `the documented access list gives a station with a certificate its own topics`() async throws {
    let authority = try await MqttAuthority()
    var options = Mosquitto.Options()
    (options.certificate, options.clientAuthority) = (authority.valid, authority.file)
    // The referee has no name.
    options.acl = try "topic read #\n" + Self.documentedAccess()
    let stage = try await Stage(options)
    let proxy = try await MqttProxy(to: stage.broker.tlsSocket)
    let address = "mqtts://localhost:\(proxy.port)"
    let settings = [Stage.live, "Discovery=homeassistant", "Commands=yes", "CAFile=\(authority.file)"]
    let certificate = ["CertificateFile=\(authority.client.file)", "KeyFile=\(authority.client.key)"]
    try stage.station.configure(broker: address, settings + certificate)
    try await stage.start()
    let first = SampleTap(1)
    try await stage.give(first)
    try await stage.check("none, with a certificate and the documented access list", [first])
    try await stage.referee.message { $0.topic == "homeassistant/tag/tagroute_desk/tag/config" }
    let process = try #require(await stage.station.mqtt)
    #expect(await !process.log().contains { $0.contains("does not accept") })

    // The key of another certificate.
    try await stage.station.endMqtt(15)
    let other = try await MqttAuthority()
    let key = try stage.station.installation.directory.write(
      String(decoding: try readFile(other.valid.key), as: UTF8.self), to: "other.key", mode: 0o600)
    withExtendedLifetime(other) {}
    try stage.station.configure(
      broker: address, settings + ["CertificateFile=\(authority.client.file)", "KeyFile=\(key)"])
    try await stage.station.startMqtt()
    try await stage.station.waits { $0.reason.contains("check CAFile=, CertificateFile= and KeyFile=") }

    // A station cannot write as another one.
    try await stage.station.endMqtt(15)
    try stage.station.configure(broker: address, station: "other", settings + certificate)
    try await stage.station.startMqtt()
    try await stage.give(SampleTap(2))
    try await stage.station.waits { $0.reason.contains("does not accept messages on tagroute/other/log") }
    try await stage.station.endMqtt(15)
    try stage.station.configure(broker: address, settings)
    try await stage.station.startMqtt()
    try await stage.station.waits { $0.reason.contains("certificate required") }
    #expect(try await stage.referee.messages().allSatisfy { !$0.topic.contains("other") })
  }

  /// The access list in docs/mqtt.md.
  private static func documentedAccess() throws -> String {
    let page = repositoryRoot + "/docs/mqtt.md"
    let parts = String(decoding: try readFile(page), as: UTF8.self).split(separator: "```\n")
    guard let list = parts.first(where: { $0.hasPrefix("pattern write") }) else {
      throw RigError("\(page) has no access list")
    }
    return String(list)
  }

  @Test func `without CAFile= the authorities of the system count`() async throws {
    let authority = try await MqttAuthority()
    var broker = Mosquitto.Options()
    broker.certificate = authority.valid
    var options = Installation.Options()
    options.reader = .others
    // OpenSSL's own variable, in place of /etc/ssl/certs.
    options.environment["SSL_CERT_FILE"] = authority.file
    let stage = try await Stage(broker, options: options)
    let proxy = try await MqttProxy(to: stage.broker.tlsSocket)
    try stage.station.configure(broker: "mqtts://localhost:\(proxy.port)", [Stage.live])
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none, with the system's authorities", [tap])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `another user of the machine reads neither taps nor secrets`() async throws {
    let stage = try await Stage()
    let directory = stage.station.installation.directory
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none, with another user", [tap])
    // As if the homes of users were open.
    for path in [directory.path, directory.file("config"), directory.file("config/tagroute"), directory.file("state")] {
      chmod(path, 0o755)
    }
    let process = try #require(await stage.station.mqtt?.identifier)
    func read(_ path: String, asOther: Bool) async throws -> Bool {
      let user = asOther ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
      return try await ChildProcess.run("/usr/bin/setpriv", user + ["/bin/cat", path]).status == .exited(0)
    }
    for path in [
      directory.file("config/tagroute/mqtt.conf"), directory.file("state/tagroute/inbox.sqlite"),
      "/proc/\(process)/environ",
    ] {
      #expect(try await read(path, asOther: false), "\(path)")
      #expect(try await !read(path, asOther: true), "\(path)")
    }
  }

  @Test func `a wrong password is named, and the tap waits until it is right`() async throws {
    var options = Mosquitto.Options()
    options.users = ["station": "right-secret", "referee": "other"]
    let stage = try await Stage(options)
    let files = stage.station.installation.directory
    let password = try files.write("wrong-secret\n", to: "password", mode: 0o600)
    let settings = [Stage.live, "User=station", "PasswordFile=\(password)"]
    try stage.station.configure(broker: "mqtt://localhost:\(stage.proxy.port)", settings)
    try await stage.start(connected: false)
    let tap = SampleTap(1)
    try await isRefused(stage, tap, "PasswordFile=")
    let process = try #require(await stage.station.mqtt)
    #expect(await !process.log().contains { $0.contains("wrong-secret") })

    try await stage.station.endMqtt()
    try files.write("right-secret\n", to: "password", mode: 0o600)
    try await stage.startMqtt()
    try await stage.check("wrong password, then the right one", [tap])
  }

  @Test func `a broker whose rules forbid the log is named, and keeps no tap from its place`() async throws {
    var options = Mosquitto.Options()
    options.users = ["station": "secret", "referee": "other"]
    let referee = "user referee\ntopic read #\n"
    options.acl = referee + "user station\ntopic write tagroute/desk/state\ntopic write tagroute/desk/tap\n"
    let stage = try await Stage(options)
    let password = try stage.station.installation.directory.write("secret\n", to: "password", mode: 0o600)
    try stage.station.configure(
      broker: "mqtt://localhost:\(stage.proxy.port)", [Stage.live, "User=station", "PasswordFile=\(password)"])
    try await stage.start(connected: false)
    let tap = SampleTap(1)
    try await isRefused(stage, tap, "messages on tagroute/desk/log")

    try await stage.broker.use { $0.acl = referee + "user station\ntopic readwrite tagroute/desk/#\n" }
    // The present connection may still wait for its next attempt.
    try await stage.station.endMqtt()
    try await stage.startMqtt()
    try await stage.check("the broker's ACL forbids the log, then allows it", [tap])
  }

  @Test func `another user of the broker learns only what its rules allow`() async throws {
    var options = Mosquitto.Options()
    options.users = ["station": "secret", "referee": "other", "neighbour": "third"]
    options.acl = """
      user referee
      topic read #
      user station
      topic readwrite tagroute/desk/#
      user neighbour
      topic read tagroute/desk/state

      """
    let stage = try await Stage(options)
    let password = try stage.station.installation.directory.write("secret\n", to: "password", mode: 0o600)
    try stage.station.configure(
      broker: "mqtt://localhost:\(stage.proxy.port)", [Stage.live, "User=station", "PasswordFile=\(password)"])
    let neighbour = try await MosquittoSubscriber(
      "neighbour", on: stage.broker.socket, user: (name: "neighbour", password: "third"))
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none, with users and an ACL", [tap])
    try await stage.station.endMqtt(15)
    try await neighbour.message { $0.text == "offline" }
    let seen = try await neighbour.messages()
    #expect(Set(seen.map(\.topic)) == ["tagroute/desk/state"])
    // The referee may read every topic, but it does not learn the contents of the tag either.
    #expect(try await stage.referee.messages().allSatisfy { !$0.text.contains("menu.example.com") })
  }
}

/// The real program and a broker that sends what no broker may send (`hostile-broker.py`).
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct HostileBrokerTests {
  @Test func `a hostile broker ends connections, and not the program`() async throws {
    let script = "\(repositoryRoot)/Tests/Client/System/MqttSystemTests/hostile-broker.py"
    let broker = try ChildProcess("/usr/bin/python3", [script])
    atEndOfTest { try await broker.exit(after: SIGKILL) }
    let port = try await broker.line { $0.hasPrefix("port ") }.dropFirst("port ".count)
    let station = try await MqttStation(broker: "mqtt://127.0.0.1:\(port)")
    try await station.startAgent()
    try await station.startMqtt()
    let program = try #require(await station.mqtt)
    try await broker.line(containing: "connection 5")
    try await station.isConnected()
    // The same process. It has taken little memory for 256 MiB.
    let status = String(decoding: try readFile("/proc/\(program.identifier)/status"), as: UTF8.self)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first
    #expect(try #require(peak.flatMap { Int($0) }) < 100_000, "\(status)")
  }
}
