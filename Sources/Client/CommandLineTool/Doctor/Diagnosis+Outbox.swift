import Bus
import Names
import TagrouteClient

/// The taps that wait to be sent to an MQTT broker, and the program that sends them.
extension Diagnosis {
  /// Empty if there is no `mqtt.conf`, no tap waits and none was dropped.
  var outbox: [Finding] {
    guard let outgoing = seen.agent.value.flatMap({ $0 })?.outgoing, outgoing.isOfInterest else { return [] }
    let wait = minutes(outgoing)
    let isLate = wait.map { $0 >= Self.patience } ?? false
    let mqtt = mqtt(outgoing, isLate: isLate)
    return [mqtt, taps(outgoing, wait, isLate: isLate, isExplained: mqtt?.verdict == .wrong)].compactMap { $0 }
  }

  /// For how many minutes a tap may wait. A broker that restarts takes less.
  private static let patience: UInt64 = 10

  /// For how many minutes the first tap has waited; nil if none waits. 0 if the clock went back meanwhile.
  private func minutes(_ outgoing: AgentStatus.Outgoing) -> UInt64? {
    outgoing.oldest.map { $0 < seen.now ? (seen.now - $0) / 60_000_000 : 0 }
  }

  private func mqtt(_ outgoing: AgentStatus.Outgoing, isLate: Bool) -> Finding? {
    let unit = seen.mqttUnit.value
    switch seen.mqtt {
    case .notAsked: return nil
    case .failed(let error):
      return .wrong(.mqtt, "tagroute-mqtt does not answer (\(error.message))", setup.restarting(.mqtt, unit))
    case .given(nil):
      guard outgoing.on else { return .note(.mqtt, "there is no mqtt.conf, so no program sends taps") }
      return .wrong(
        .mqtt, "there is an mqtt.conf, but tagroute-mqtt does not run: no tap is sent", setup.starting(.mqtt, unit))
    case .given(let status?):
      let place = "\(status.broker) as \(status.station)"
      if status.isConnected { return .right(.mqtt, "tagroute-mqtt is connected to \(place)") }
      let reason = status.stateReason.isEmpty ? "" : " (\(status.stateReason))"
      let text = "tagroute-mqtt is \(status.state), and not connected to \(place)\(reason)"
      return isLate ? .wrong(.mqtt, text, setup.log(of: .mqtt, unit)) : .note(.mqtt, text)
    }
  }

  private func taps(
    _ outgoing: AgentStatus.Outgoing, _ wait: UInt64?, isLate: Bool, isExplained: Bool
  ) -> Finding {
    var text = outgoing.waiting == 0 ? "no tap waits to be sent" : "taps that wait to be sent: \(outgoing.waiting)"
    if isLate, let wait { text += ", the oldest for \(wait) minutes" }
    if outgoing.dropped > 0 { text += "; dropped before they were sent: \(outgoing.dropped)" }
    if isLate && !isExplained {
      return .wrong(.outbox, text, setup.log(of: .mqtt, seen.mqttUnit.value))
    }
    return isLate || outgoing.dropped > 0 ? .note(.outbox, text) : .right(.outbox, text)
  }
}
