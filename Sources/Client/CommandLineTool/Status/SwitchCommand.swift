import Bus
import Names
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
      let client = try await DaemonClient.own()
      let status = try await Failure.asking(.daemon) { () throws(BusError) in
        try await client.setEnabled(isOn)
        return try await client.status()
      }
      try console.answer(
        ["enabled": status.enabled, "scanning": status.scanning, "suspendReasons": status.suspendReasons] as JSON,
        [switched(status)])
      return 0
    }
  }

  private static func switched(_ status: DaemonStatus) -> String {
    guard status.enabled else { return "scanning is off" }
    let reasons = status.suspendReasons.map(SuspendReason.words).joined(separator: ", ")
    return reasons.isEmpty ? "scanning is on" : "scanning is on, but paused: \(reasons)"
  }
}
