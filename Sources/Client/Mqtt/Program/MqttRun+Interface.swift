import Bus
import Names

extension MqttRun {
  /// `org.tagroute.Mqtt1`. Config/dbus/interfaces documents each member.
  func export(on bus: Connection) async throws(BusError) {
    let identity = settings.identity
    let station = settings.messages.station
    let interface = ExportedInterface(
      Names.Mqtt.interface,
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("State", "s") { [weak self] _ in .string(await self?.session.stateName ?? "") },
        ExportedProperty("StateReason", "s") { [weak self] _ in .string(await self?.stateReason ?? "") },
        ExportedProperty("Broker", "s", emits: .const) { _ in .string("\(identity.broker)") },
        ExportedProperty("Station", "s", emits: .const) { _ in .string(station) },
        ExportedProperty("Sent", "t", emits: .none) { [weak self] _ in .uint64(await self?.session.sent ?? 0) },
      ])
    try await bus.export([interface], at: try ObjectPath(Names.Mqtt.path))
  }
}

extension BrokerSession {
  /// The property `State`.
  var stateName: String {
    switch phase {
    case .waiting, .stopped: "waiting"
    case .connecting: "connecting"
    case .connected, .leaving: "connected"
    }
  }

  /// Why the connection is missing, or there are no taps; empty if nothing is wrong here.
  var stateReason: String {
    guard trouble.isEmpty else { return trouble }
    guard case .connected = phase, !flow.isAgentPresent else { return "" }
    return "no agent runs in this session, so there are no taps: systemctl --user start tagroute-agent"
  }
}
