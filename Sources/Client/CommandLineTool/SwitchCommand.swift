import Bus
import Doctor
import Names
import TagrouteClient

extension Command {
  static let on = switching(true, summary: "start scanning in the background")
  static let off = switching(
    false, summary: "stop scanning in the background until `tagroute on`, also after a restart")

  private static func switching(_ isOn: Bool, summary: String) -> Command {
    Command(
      name: isOn ? "on" : "off", summary: summary,
      details: """
        Applies to the whole machine. While it is off, no tag gives a notification or
        runs a rule. Commands such as tagroute read and the reader sessions of apps may
        still use the reader. off returns when no reader scans any more.

        polkit decides who may do this: by default, the user at the machine. Fails with
        69 if the daemon is not running, with 75 if it is off but a reader has not
        stopped within five seconds, or while polkit still asks the user, and with 77 if
        it is not allowed.
        """
    ) { _, console throws(Failure) in
      let client = try await DaemonClient.own()
      let status = try await Failure.asking(.daemon) { () throws(BusError) in
        try await client.setEnabled(isOn)
        return try await client.status()
      }
      try console.answer(
        ["enabled": status.enabled, "scanning": status.scanning, "suspendReasons": status.suspendReasons] as JSON,
        [switched(ScanningLine(status, SuspendReason.words))])
      return 0
    }
  }

  /// What `on` and `off` print.
  static func switched(_ line: ScanningLine) -> String {
    let words =
      switch line.verdict {
      case .off: line.description
      case .notScanning: "on; paused\(line.text)"
      case .scanning, .aboutToScan: "on"
      }
    return "scanning: \(words)"
  }

  /// What `session lock` and `session unlock` print: a report, because another locker may still have the session locked.
  static func reported(isLocked: Bool) -> String { "session: reported as \(isLocked ? "locked" : "unlocked")" }

  static let session = Command(
    name: "session", summary: "report that the screen is locked or unlocked",
    details: """
      For swaylock, hyprlock, i3lock and other lockers that do not report it
      themselves. docs/scanning.md in /usr/share/doc/tagroute has the lines for each.

      From lock to unlock the daemon treats the session as locked, even if the agent
      ends in between. By default readers do not scan then: see WhenLocked= in
      tagroute.conf(5). unlock does not end the lock of another locker.

      Returns when the daemon has the report. Fails with 69 if the agent is not
      running, and with 75 if the daemon did not get the report within five seconds.
      The agent then keeps trying.
      """,
    severalForms: [
      .init("lock", "", "report that the screen is locked"), .init("unlock", "", "report that it is unlocked"),
    ]
  ) { arguments, console throws(Failure) in
    let isLocked = arguments.words.first == "lock"
    let agent = try await AgentClient.own()
    try await Failure.asking(.agent) { () throws(BusError) in try await agent.setLocked(isLocked) }
    try console.answer(["locked": isLocked], [reported(isLocked: isLocked)])
    return 0
  }
}
