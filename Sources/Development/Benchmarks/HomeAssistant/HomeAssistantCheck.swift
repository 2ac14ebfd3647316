import Bus
import EventLoop
import FoundationEssentials
import Glibc
import TagrouteClient
import TestKit

/// Home Assistant as referee: it finds the station, gets each live tap once, and gets no tap from the time of its
/// absence.
///
/// Only the reader and the notification server are simulated. The daemon, the agent, tagroute-mqtt, the broker, and
/// Home Assistant's core with its MQTT and tag integrations are real.
struct HomeAssistantCheck {
  private static let station = "entrance"
  private static let tapTopic = "tagroute/\(station)/tap"
  /// The topics of the retained messages that describe the station to Home Assistant.
  private static let discoveryTopics = [
    "homeassistant/tag/tagroute_\(station)/tag/config",
    "homeassistant/binary_sensor/tagroute_\(station)/state/config",
  ]
  /// The tag of the automation: its UID, and its id in Home Assistant.
  private static let automated = (uid: "04a2195a2b3c80", id: "04-A2-19-5A-2B-3C-80")

  private let installation: Installation
  private let broker: Mosquitto
  private let server: NotificationServerStandIn

  /// Starts everything but Home Assistant and tagroute-mqtt.
  init() async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-mqtt"])
    installation = try await Installation()
    var options = Mosquitto.Options()
    options.hasPort = true
    broker = try await Mosquitto(options)
    // Every tap is live, even on a slow machine.
    try installation.directory.write(
      """
      [Mqtt]
      Broker=mqtt://127.0.0.1:\(broker.port)
      Station=\(Self.station)
      Discovery=homeassistant
      LiveSeconds=3600

      """, to: "config/tagroute/mqtt.conf", mode: 0o600)
    server = try await installation.startWithMenu()
  }

  func run() async throws {
    let (device, bridge) = try await firstRun()
    try await restart(of: device)
    try await restartWithoutDiscovery(of: device, bridge)
    try await broker.stop()
    await installation.stop()
  }

  /// Home Assistant is there first. Then the station appears, dies, and returns. Returns the station's id in Home
  /// Assistant, and tagroute-mqtt.
  private func firstRun() async throws -> (device: String, bridge: ChildProcess) {
    let assistant = try await startHomeAssistant()
    var seen = await broker.mark()
    var bridge = try await installation.start("tagroute-mqtt")
    let found = try await assistant.observe("find the station") {
      $0.event == "device" && $0.action == "create" && $0.identifiers == [["mqtt", "tagroute_\(Self.station)"]]
    }
    try await expectConnectivity("on", assistant)
    try await expectSubscription(after: seen)
    report("finds the tag scanner and the connectivity sensor")

    try await tap(Self.automated.uid)
    try await assistant.observe("run the automation of the tag") {
      $0.event == "automation" && $0.tag == Self.automated.id
    }
    report("runs an automation for a tag, by the UID")
    try await tap("04000000000002", link: "https://www.home-assistant.io/tag/kitchen")
    try await expectScan("kitchen", assistant)
    report("knows a tag of its own apps by the id in the link")

    // A tap that the broker has not acknowledged is sent again, and then Home Assistant hears it again.
    try await waitForEmptyOutbox()
    seen = await assistant.moment
    bridge.signal(SIGKILL)
    try await bridge.exit()
    try await expectConnectivity("off", assistant, after: seen)
    seen = await assistant.moment
    bridge = try await installation.start("tagroute-mqtt")
    try await expectConnectivity("on", assistant, after: seen)
    try await tap("04000000000003")
    try await expectScan("04-00-00-00-00-00-03", assistant)
    report("sees tagroute-mqtt die and return")

    guard let device = found.id else { throw RigError("Home Assistant's device has no id") }
    try await stop(assistant, [Self.automated.id, "kitchen", "04-00-00-00-00-00-03"], by: device)
    return (device, bridge)
  }

  /// A tap comes while Home Assistant is away.
  private func restart(of device: String) async throws {
    var seen = await broker.mark()
    try await tap("04000000000004")
    try await expectBroker("get a tap from tagroute-mqtt", after: seen) {
      $0.contains("Received PUBLISH") && $0.contains("q0, r0") && $0.contains("'\(Self.tapTopic)'")
    }
    seen = await broker.mark()
    let assistant = try await startHomeAssistant()
    try await expectConnectivity("on", assistant)
    try await expectSubscription(after: seen)
    try await tap("04000000000005")
    try await expectScan("04-00-00-00-00-00-05", assistant)
    try await stop(assistant, ["04-00-00-00-00-00-05"], by: device)
    report("hears no earlier tap after a restart")
  }

  /// The broker has lost its retained messages, so Home Assistant finds the station only if tagroute-mqtt answers its
  /// birth message. Then tagroute-mqtt stops.
  private func restartWithoutDiscovery(of device: String, _ bridge: ChildProcess) async throws {
    for topic in Self.discoveryTopics { try await broker.publish("", to: topic, isRetained: true) }
    var seen = await broker.mark()
    let assistant = try await startHomeAssistant()
    try await expectSubscription(after: seen)
    try await expectConnectivity("on", assistant)
    try await tap("04000000000006")
    try await expectScan("04-00-00-00-00-00-06", assistant)
    report("finds the station again after its birth message")

    seen = await assistant.moment
    bridge.signal(SIGTERM)
    guard try await bridge.exit() == .exited(0) else { throw RigError("tagroute-mqtt did not end properly") }
    try await expectConnectivity("off", assistant, after: seen)
    try await stop(assistant, ["04-00-00-00-00-00-06"], by: device)
    report("sees tagroute-mqtt stop")
  }

  private func startHomeAssistant() async throws -> HomeAssistant {
    try await HomeAssistant.start(installation, port: broker.port, tag: Self.automated.id)
  }

  /// Places a tag, and removes it once its notification was shown.
  private func tap(_ uid: String, link: String? = nil) async throws {
    try await installation.simulate("tap \(link ?? "https://menu.example.com/table/\(uid)") --uid \(uid)")
    _ = try await server.nextTap()
    try await installation.simulate("remove")
  }

  private func waitForEmptyOutbox() async throws {
    let agent = try await AgentClient.connect(
      to: BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""), on: EventLoop(label: "bench"))
    let end = ContinuousClock.now + ChildProcess.timeout
    while ContinuousClock.now < end {
      if try await agent.status()?.outgoing?.waiting == 0 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw RigError("the agent keeps taps that the broker has")
  }

  private func expectScan(_ tag: String, _ assistant: HomeAssistant) async throws {
    try await assistant.observe("hear the tag \(tag)") { $0.event == "tag_scanned" && $0.tag == tag }
  }

  private func expectConnectivity(_ state: String, _ assistant: HomeAssistant, after moment: Int = 0) async throws {
    try await assistant.observe("report the station's connectivity as \(state)", after: moment) {
      $0.event == "state" && $0.state == state && $0.deviceClass == "connectivity"
    }
  }

  /// Waits until Home Assistant has subscribed to the station's taps. A live tap before that is lost, as it should be.
  private func expectSubscription(after seen: Int) async throws {
    // The broker writes "TIME: CLIENT QOS TOPIC".
    try await expectBroker("get a subscription to the taps from Home Assistant", after: seen) {
      $0.hasSuffix(" \(Self.tapTopic)")
    }
  }

  private func expectBroker(
    _ what: String, after seen: Int, matching: @escaping @Sendable (String) -> Bool
  ) async throws {
    do {
      try await broker.line(after: seen, matching: matching)
    } catch {
      throw RigError("the broker did not \(what): \(error)")
    }
  }

  /// Stops Home Assistant, and compares everything that it has heard.
  private func stop(_ assistant: HomeAssistant, _ tags: [String], by device: String) async throws {
    try await assistant.stop()
    let scans = await assistant.observations().filter { $0.event == "tag_scanned" }
    guard scans.map(\.tag) == tags else {
      throw RigError("Home Assistant heard \(scans.map { $0.tag ?? "a tag without an id" }), instead of \(tags)")
    }
    guard scans.allSatisfy({ $0.scanner == device }) else {
      throw RigError("Home Assistant took a tag for that of another device")
    }
  }

  private func report(_ what: String) { print("Home Assistant \(HomeAssistant.release) \(what)") }
}

/// Home Assistant's core, run by home-assistant.py until `stop`.
struct HomeAssistant {
  /// A line that home-assistant.py has printed.
  struct Observation: Decodable {
    /// What happened; home-assistant.py has the list.
    let event: String
    /// The version of Home Assistant, if it has started.
    let version: String?
    /// What happened to a device.
    let action: String?
    let id: String?
    /// The identifiers of a device, each with its integration.
    let identifiers: [[String]]?
    /// The state of a sensor, and what kind of sensor it is.
    let state, deviceClass: String?
    /// The tag, and the device that scanned it.
    let tag, scanner: String?

    private enum CodingKeys: String, CodingKey {
      case event, version, action, id, identifiers, state
      case deviceClass = "device_class"
      case tag = "tag_id"
      case scanner = "device_id"
    }

    /// Decodes a line; nil for the lines of Home Assistant's own log.
    init?(line: String) {
      guard let value = try? JSONDecoder().decode(Observation.self, from: Data(line.utf8)) else { return nil }
      self = value
    }
  }

  static let release = "2024.3.3"
  private static let script = "Sources/Development/Benchmarks/HomeAssistant/home-assistant.py"
  private let process: ChildProcess

  /// Starts it in the installation's folder, so that a second start is a restart. Its automation waits for `tag`.
  /// Returns when Home Assistant reports that it has started. It connects to the broker about the same time.
  static func start(_ installation: Installation, port: UInt16, tag: String) async throws -> HomeAssistant {
    let python = ".build/homeassistant-\(release)/bin/python3"
    guard access(python, X_OK) == 0, access(script, R_OK) == 0 else {
      throw RigError("Home Assistant is not here: in the package's folder, Packaging/check-home-assistant")
    }
    let folder = installation.directory.file("home-assistant")
    mkdir(folder, 0o700)
    let process = try await installation.start(python, [script, folder, "\(port)", tag], input: true)
    let assistant = HomeAssistant(process: process)
    let started = try await assistant.observe("start") { $0.event == "started" }
    guard started.version == release else {
      throw RigError("this is Home Assistant \(started.version ?? "without a version"), not \(release)")
    }
    return assistant
  }

  /// The number of lines so far, for `observe`.
  var moment: Int { get async { await process.log().count } }

  /// Waits for an observation after a moment. `what` completes “Home Assistant did not …”.
  @discardableResult
  func observe(
    _ what: String, after moment: Int = 0, where matches: @escaping @Sendable (Observation) -> Bool
  ) async throws -> Observation {
    do {
      let line = try await process.line(after: moment) { Observation(line: $0).map(matches) ?? false }
      guard let observation = Observation(line: line) else { throw RigError("no observation: \(line)") }
      return observation
    } catch {
      throw RigError("Home Assistant did not \(what): \(error)")
    }
  }

  func observations() async -> [Observation] { await process.log().compactMap(Observation.init(line:)) }

  /// Stops it as systemd would, and waits until it has written its files.
  func stop() async throws {
    try await process.send("stop")
    let status = try await process.exit()
    guard status == .exited(0) else {
      throw RigError("Home Assistant ended: \(status); its log:\n" + (await process.log().joined(separator: "\n")))
    }
  }
}
