import Doctor
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// What `tagroute status` and `tagroute monitor` say about a station.
@Suite struct StationReportTests {
  private static func report(isActive: Bool, _ agent: AgentStatus? = nil) -> StatusReport {
    StatusReport(
      DaemonStatus(
        version: "", enabled: true, scanning: true, suspendReasons: [], readers: [], stationUser: "kiosk",
        stationActive: isActive), agent)
  }

  @Test func `status says who gets the taps of a station`() {
    let lines = Self.report(isActive: true).lines(.current)
    #expect(
      lines == [
        "scanning", "station: taps go to user kiosk", "no reader",
        "no agent in this session, and a station needs none here",
      ])
    let headless = AgentStatus(version: "", headless: true, registered: true)
    #expect(Self.report(isActive: true, headless).lines(.current).last == "agent without a desktop : registered")
    #expect(Self.report(isActive: false).lines(.current)[1].hasPrefix("station: taps do not go to user kiosk now"))
  }

  @Test func `status names the programs that have paused scanning`() {
    let wallet = InhibitorDescription(who: "Wallet", why: "a payment is in progress", process: 7)
    let daemon = DaemonStatus(
      version: "", enabled: true, scanning: false, suspendReasons: ["inhibited"], readers: [])
    let lines = StatusReport(daemon, nil, inhibitors: [wallet]).lines(.current)
    #expect(
      lines.prefix(2) == ["not scanning: a program has paused scanning", "  Wallet: a payment is in progress"])
  }

  @Test func `monitor says it in each status line`() {
    #expect(MonitorEvent.status(Self.report(isActive: true)).text == "scanning; station: taps go to user kiosk")
  }

  @Test func `a machine that is no station has no such line`() {
    let report = StatusReport(
      DaemonStatus(version: "", enabled: true, scanning: true, suspendReasons: [], readers: []), nil)
    #expect(report.station == nil && !report.lines(.current).contains { $0.contains("station") })
  }
}

@Suite struct StatusLineTests {
  private static func lines(
    scanning: Bool = false, _ reasons: [String], name: String = "", _ agent: AgentStatus? = nil
  ) -> [String] {
    let reader = ReaderStatus(
      path: "/r/0", name: name, device: "pn532_uart:/dev/x", seat: "seat0", state: "ready", stateReason: "")
    return StatusReport(
      DaemonStatus(
        version: "", enabled: !reasons.contains("disabled"), scanning: scanning, suspendReasons: reasons,
        readers: [reader]), agent
    ).lines(.current)
  }

  @Test(arguments: [
    (["disabled"], "off; commands and sessions may still use the reader"),
    (
      ["disabled", "camera"],
      "off; commands and sessions may still use the reader; other reasons not to scan: a camera is in use"
    ),
    (["camera"], "not scanning: a camera is in use"), ([], "about to scan"),
  ])
  func `the first line says whether a reader scans`(reasons: [String], line: String) {
    #expect(Self.lines(reasons).first == line)
  }

  @Test(arguments: [
    (false, ["disabled"], "scanning: off; commands and sessions may still use the reader"),
    (false, ["camera", "no-reader"], "scanning: on; paused: a camera is in use, no reader"),
    (false, [], "scanning: on"), (true, [], "scanning: on"),
  ])
  func `on and off say what was switched and whether scanning is paused`(
    scanning: Bool, reasons: [String], line: String
  ) {
    #expect(Command.switched(ScanningLine(scanning, reasons, SuspendReason.words)) == line)
  }

  @Test func `session says what was reported`() {
    #expect([true, false].map(Command.reported) == ["session: reported as locked", "session: reported as unlocked"])
  }

  @Test func `a missing reader is reported once`() {
    let report = StatusReport(
      DaemonStatus(version: "", enabled: true, scanning: false, suspendReasons: ["no-reader"], readers: []), nil)
    #expect(report.lines(.current).filter { $0.contains("no reader") } == ["not scanning: no reader"])
  }

  @Test(arguments: [
    ("cannot connect to mqtts://b.example", "mqtt: waiting as door: cannot connect to mqtts://b.example"),
    ("no agent", "mqtt: waiting, mqtts://b.example as door: no agent"),
  ])
  func `the broker of MQTT is named once`(reason: String, line: String) {
    var mqtt = MqttStatus()
    (mqtt.broker, mqtt.station, mqtt.state, mqtt.stateReason) = ("mqtts://b.example", "door", "waiting", reason)
    let daemon = DaemonStatus(version: "", enabled: true, scanning: true, suspendReasons: [], readers: [])
    #expect(StatusReport(daemon, nil, mqtt).lines(.current).contains(line))
  }

  @Test(arguments: ["", "pn532_uart:/dev/x"])
  func `a device without a name of its own is printed once`(name: String) {
    #expect(Self.lines([], name: name)[1] == "0: pn532_uart:/dev/x on seat0: ready")
    #expect(Self.lines([], name: "PN532")[1] == "0: PN532 on seat0: ready (pn532_uart:/dev/x)")
  }

  @Test func `an agent of a session in the background does not contradict the first line`() {
    let lines = Self.lines(["no-agent"], AgentStatus(version: "", registered: true))
    #expect(lines.first == "not scanning: no agent is registered for the reader's seat")
    #expect(
      lines.contains("agent : registered for a session that is not the active one at the reader's seat"), "\(lines)")
    // A text console is in front for a while.
    let console = Self.lines(["no-agent", "session-not-graphical"], AgentStatus(version: "", registered: true))
    #expect(console.contains("agent : registered"), "\(console)")
  }
}
