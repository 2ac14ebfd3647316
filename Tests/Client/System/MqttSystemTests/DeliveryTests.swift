import Glibc
import Names
import TestKit
import Testing

/// What other clients of the broker receive while everything works.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DeliveryTests {
  private func check(_ payloads: [String]) async throws {
    let arguments = [
      "\(repositoryRoot)/Tests/Client/System/MqttSystemTests/check-payload.py",
      "\(repositoryRoot)/Config/mqtt/tap.schema.json",
    ]
    let run = try await ChildProcess.run("/usr/bin/python3", arguments + payloads)
    #expect(run.status == .exited(0), "\(run.log)")
  }

  @Test func `a tap arrives in the log and then on the live topic, with the same payload`() async throws {
    let stage = try await Stage()
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none", [tap])
    let taps = try await stage.referee.messages().filter { $0.tap != nil }
    #expect(taps.map(\.topic) == ["tagroute/desk/log", "tagroute/desk/tap"])
    #expect(taps.allSatisfy { !$0.isRetained })
    let payload = try #require(taps.first?.tap)
    #expect(payload == taps.last?.tap)
    #expect(payload.tap_id == tap.id && payload.station == "desk" && payload.reader == "0")
    #expect(payload.technology == "type-2" && payload.tag_id == "04-00-00-00-00-00-01" && payload.sequence > 0)
    #expect(payload.time.hasSuffix("Z") && payload.time.contains("."))
    // Without Contents=, no part of the tag's message leaves the station.
    #expect(payload.uri == nil && payload.message == nil && payload.contents_hash == nil)
    #expect(taps.allSatisfy { !$0.text.contains("menu.example.com") })
    try await check(taps.map(\.text))
  }

  /// A client library that we did not write, of another origin than mosquitto_sub.
  @Test func `paho receives the same, with the QoS and the expiry of each topic`() async throws {
    let stage = try await Stage(settings: ["LiveSeconds=600"])
    let script = "\(repositoryRoot)/Tests/Client/System/MqttSystemTests/paho-subscriber.py"
    let paho = try ChildProcess("/usr/bin/python3", [script, stage.proxy.port])
    atEndOfTest { try await paho.exit(after: SIGKILL) }
    try await paho.line(containing: "subscribed")
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none, with paho as another referee", [tap])
    func fields(_ topic: String) async throws -> [Substring] {
      try await paho.line { $0.hasPrefix("\(topic)\t") }.split(separator: "\t", omittingEmptySubsequences: false)
    }
    #expect(try await fields("tagroute/desk/state").dropFirst().elementsEqual(["1", "0", "-", "online"]))
    let (log, live) = (try await fields("tagroute/desk/log"), try await fields("tagroute/desk/tap"))
    #expect(log[1...3].elementsEqual(["1", "0", "-"]))
    #expect(live[1...2].elementsEqual(["0", "0"]))
    // The broker subtracts the time that the message has waited there.
    #expect((1...600).contains(try #require(Int(live[3]))))
    let texts = Set(try await stage.referee.messages().filter { $0.tap != nil }.map(\.text))
    #expect(texts == [String(log[4])] && texts == [String(live[4])])
  }

  @Test func `Contents adds the message`() async throws {
    let stage = try await Stage(settings: [Stage.live, "Contents=yes"])
    try await stage.start()
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.isLive(tap)
    let payloads = try await stage.referee.messages().filter { $0.tap != nil }
    let payload = try #require(payloads.last?.tap)
    #expect(payload.uri == "https://menu.example.com/table/1" && payload.message != nil)
    try await check(payloads.map(\.text))
  }

  @Test func `without a desktop a tap goes out whether a rule acts on it or not`() async throws {
    var options = Installation.Options()
    options.reader = .others
    options.agentArguments = ["--headless"]
    let stage = try await Stage(options: options)
    let installation = stage.station.installation
    try installation.directory.write(
      "[Rule door]\nLink=https://menu.example.com/table/1\nRun=/bin/true;\nAsk=no\n",
      to: "config/tagroute/rules.d/door.conf", mode: 0o600)
    try await stage.start()
    let taps = [SampleTap(1), SampleTap(2)]
    try await stage.give(taps[0], taps[1])
    let agent = try #require(await installation.agent)
    try await agent.line(containing: "\(taps[1].id) is not offered: no user can be asked")
    try await stage.check("none, without a desktop", taps)
    let inbox = try await installation.start("tagroute", ["inbox", "--json"])
    #expect(try await inbox.exit() == .exited(0))
    let states = await inbox.standardOutput()
    #expect(states.contains(#""delivered""#) && states.contains(#""dismissed""#))
  }

  @Test func `the state of the station and of its reader is retained`() async throws {
    let stage = try await Stage()
    try await stage.start()
    let later = try await MosquittoSubscriber("later", on: stage.broker.socket)
    try await later.message { $0.isRetained && $0.topic == "tagroute/desk/state" && $0.text == "online" }
    // The reader's state may be published only now.
    let reader = try await later.message { $0.topic == "tagroute/desk/reader/0/state" }
    #expect(reader.text.contains("\"scanning\"") && reader.text.contains("\"PN532\""))
    // The broker retains no message about a tag: each restart of a consumer would repeat it.
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("none", [tap])
    let last = try await MosquittoSubscriber("last", on: stage.broker.socket)
    try await last.message { $0.isRetained && $0.topic == "tagroute/desk/state" }
    #expect(try await last.messages().filter { $0.tap != nil }.isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `a station that ends is offline, and refuses a second process before`(signal: Int32) async throws {
    let stage = try await Stage()
    try await stage.start()
    try await stage.referee.message { $0.topic == "tagroute/desk/state" && $0.text == "online" }
    let second = try await stage.station.installation.start("tagroute-mqtt")
    #expect(try await second.exit() == .exited(Names.ExitCode.alreadyRunning))
    let status = try await stage.station.endMqtt(signal)
    let expected = signal == SIGTERM ? ChildProcess.ExitStatus.exited(0) : .signalled(SIGKILL)
    #expect(status == expected)
    try await stage.referee.message { $0.topic == "tagroute/desk/state" && $0.text == "offline" }
  }

  /// It answers as version 4, or closes the connection as RabbitMQ does.
  @Test(arguments: ["refuse 4", "refuse close"])
  func `a broker without MQTT 5 gets MQTT 3 1 1`(command: String) async throws {
    let stage = try await Stage(starter: "`a broker without MQTT 5 gets MQTT 3 1 1`_\(command)")
    let mark = try await stage.proxy.command(command)
    try await stage.start()
    try await stage.proxy.event("connect 5 tagroute-desk", after: mark)
    try await stage.proxy.event("connect 4 tagroute-desk", after: mark)
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("broker without MQTT 5, \(command)", [tap])
  }
}
