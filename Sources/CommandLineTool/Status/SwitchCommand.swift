import Names
import Bus
import Doctor
import EventLoop
import TagrouteClient

extension Command {
  static let on = switching(true, summary: "start scanning")
  static let off = switching(false, summary: "stop scanning until `tagroute on`, also after a restart")

  private static func switching(_ isOn: Bool, summary: String) -> Command {
    Command(
      name: isOn ? "on" : "off", summary: summary,
      details: """
        Applies to the whole machine. polkit decides who may do this: by default, the
        user at the machine. Fails with 69 if the daemon is not running, with 75 while
        polkit still asks the user, and with 77 if it is not allowed.
        """,
      words: 0...0
    ) { _, console throws(Failure) in
      let client = try await Failure.connecting(to: .daemon) { () throws(BusError) in
        try await DaemonClient.connect(on: EventLoop(label: "tagroute"))
      }
      let status: DaemonStatus
      do throws(BusError) {
        try await client.setEnabled(isOn)
        status = try await client.status()
      } catch {
        throw Failure(error, from: .daemon)
      }
      let report = SwitchReport(
        enabled: status.enabled, scanning: status.scanning, suspendReasons: status.suspendReasons)
      try console.answer(report, [report.text])
      return 0
    }
  }
}

/// What `on` and `off` print.
struct SwitchReport: Encodable {
  let enabled: Bool
  let scanning: Bool
  let suspendReasons: [String]

  var text: String {
    guard enabled else { return "scanning is off" }
    let reasons = suspendReasons.map(SuspendReason.words).joined(separator: ", ")
    return reasons.isEmpty ? "scanning is on" : "scanning is on, but paused: \(reasons)"
  }
}
