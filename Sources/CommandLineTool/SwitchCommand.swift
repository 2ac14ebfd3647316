import Names
import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let on = switching(true, summary: "look for tags, whenever nothing speaks against it")
  static let off = switching(false, summary: "look for no tags until this is taken back, over restarts too")

  private static func switching(_ isOn: Bool, summary: String) -> Command {
    let name = isOn ? "on" : "off"
    return Command(
      name: name, usage: name, summary: summary,
      details: """
        Switches background scanning \(name) for the whole machine, which is kept over a restart. polkit decides who may: the user at
        the machine. Fails with 77 where it says no, with 69 where the daemon does not run, with 75 where polkit is still being
        asked.
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
    guard enabled else { return "switched off" }
    let reasons = suspendReasons.map(StatusReport.words).joined(separator: ", ")
    return reasons.isEmpty ? "switched on" : "switched on; not scanning yet: \(reasons)"
  }
}
