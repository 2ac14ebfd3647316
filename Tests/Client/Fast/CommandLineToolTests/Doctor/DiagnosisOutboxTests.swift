import Bus
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// What `tagroute doctor` reports about taps that wait to be sent.
@Suite struct DiagnosisOutboxTests {
  private static let minute: UInt64 = 60_000_000

  private func findings(
    on: Bool = true, minutes: UInt64? = nil, dropped: UInt64 = 0, mqtt state: String? = "connected",
    change: (inout Examination) -> Void = { _ in }
  ) -> [Finding] {
    Seen.findings { seen in
      seen.now = 1000 * Self.minute
      var outgoing = AgentStatus.Outgoing()
      outgoing.on = on
      outgoing.dropped = dropped
      if let minutes {
        outgoing.waiting = 4
        outgoing.oldest = seen.now - minutes * Self.minute
      }
      seen.agent = .given(AgentStatus(version: "0.1.0", registered: true, outgoing: outgoing))
      var mqtt = MqttStatus()
      (mqtt.broker, mqtt.station, mqtt.state) = ("mqtts://b.example.com", "door", state ?? "")
      mqtt.stateReason = state == "waiting" ? "no route to it" : ""
      seen.mqtt = .given(state == nil ? nil : mqtt)
      seen.mqttUnit = .given(Seen.unit())
      change(&seen)
    }.filter { [.mqtt, .outbox].contains($0.subject) }
  }

  @Test func `an outbox that is off, and an older agent, have no finding`() {
    #expect(findings(on: false).isEmpty)
    #expect(Seen.findings { _ in }.allSatisfy { ![.mqtt, .outbox].contains($0.subject) })
  }

  @Test func `a station's own user hears of its outbox`() {
    let found = findings(minutes: 20, mqtt: "waiting") { seen in
      seen.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [Seen.reader],
          stationUser: "tagroute-station", stationActive: true))
      let outgoing = seen.agent.value.flatMap { $0 }?.outgoing
      seen.agent = .given(AgentStatus(version: "0.1.0", headless: true, registered: true, outgoing: outgoing))
    }
    #expect(found.contains { $0.subject == .mqtt && $0.verdict == .wrong })
    #expect(found.contains { $0.subject == .outbox })
  }

  /// It may have crashed so often that systemd refuses each start.
  @Test func `a program that has failed is reset before it is started`() {
    let found = findings(minutes: 1, mqtt: nil) { $0.mqttUnit = .given(Seen.unit(active: "failed", sub: "failed")) }
    #expect(
      found.first?.remedy?.command
        == "systemctl --user reset-failed tagroute-mqtt.service && systemctl --user enable --now tagroute-mqtt.service")
  }

  @Test func `taps that wait for less than ten minutes are right`() {
    #expect(
      findings(minutes: 9) == [
        .right(.mqtt, "tagroute-mqtt is connected to mqtts://b.example.com as door"),
        .right(.outbox, "taps that wait to be sent: 4"),
      ])
    #expect(findings().map(\.text).last == "no tap waits to be sent")
    // A broker that restarts.
    #expect(findings(minutes: 9, mqtt: "waiting").map(\.verdict) == [.note, .right])
  }

  @Test func `taps that wait for longer are wrong, and the connection explains it`() {
    let connected = findings(minutes: 10)
    #expect(connected.map(\.verdict) == [.right, .wrong])
    #expect(connected.last?.text == "taps that wait to be sent: 4, the oldest for 10 minutes")
    #expect(connected.last?.remedy?.command == "journalctl --user -u tagroute-mqtt.service -n 20")
    let waiting = findings(minutes: 70, mqtt: "waiting")
    #expect(waiting.map(\.verdict) == [.wrong, .note])
    #expect(
      waiting.first?.text
        == "tagroute-mqtt is waiting, and not connected to mqtts://b.example.com as door (no route to it)")
    let hanging = findings(minutes: 70) { $0.mqtt = .failed(.init(name: BusError.Name.timeout, message: "no reply")) }
    #expect(hanging.map(\.verdict) == [.wrong, .note])
    #expect(hanging.first?.remedy?.command == "systemctl --user restart tagroute-mqtt.service")
  }

  @Test func `a program that does not run is wrong if there is an mqtt conf`() {
    let missing = findings(mqtt: nil)
    #expect(missing.map(\.verdict) == [.wrong, .right])
    #expect(missing.first?.remedy?.command == "systemctl --user enable --now tagroute-mqtt.service")
    #expect(findings(on: false, minutes: 1, mqtt: nil).map(\.verdict) == [.note, .right])
  }

  @Test func `dropped taps are a note, and a clock that went back is no wait`() {
    #expect(findings(dropped: 2).last == .note(.outbox, "no tap waits to be sent; dropped before they were sent: 2"))
    #expect(findings(minutes: 70) { $0.now = 0 }.map(\.verdict) == [.right, .right])
  }
}
