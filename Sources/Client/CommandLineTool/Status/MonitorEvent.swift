import TagrouteClient

/// One line of `monitor`: a text for a person, or an object for a script. Scripts depend on its keys.
struct MonitorEvent: Sendable {
  let text: String
  let json: JSON

  /// Returns why it could not be written.
  func print(_ console: Console) -> Failure? {
    do throws(Failure) {
      if console.json { try console.object(json, onOneLine: true) } else { try console.line(text) }
      return nil
    } catch {
      return error
    }
  }

  static func status(_ report: StatusReport) -> MonitorEvent {
    let readers = report.readers.map { "\($0.name.isEmpty ? $0.device : $0.name): \($0.state)" }
    return MonitorEvent(
      text: ([StatusReport.verdict(report.scanning, report.suspendReasons)] + [report.station].compactMap(\.self)
        + readers).joined(separator: "; "),
      json: [
        "event": "status", "scanning": report.scanning, "suspendReasons": report.suspendReasons,
        "readers": report.readers, "stationUser": report.stationUser, "stationActive": report.stationActive,
      ])
  }

  static let daemonGone = MonitorEvent(text: "the daemon stopped", json: ["event": "daemon-gone"])

  static func tap(_ id: String, _ known: TapDescription?, _ resolution: Resolution?) -> MonitorEvent {
    let tap = known ?? TapDescription()
    let what = "tap \(id): \(tap.uri.isEmpty ? tap.title : tap.uri)\(tap.handler.map { " for \($0)" } ?? "")"
    let reasons = [tap.reason].compactMap(\.self) + (resolution?.claimants ?? []).map(\.reason)
    return MonitorEvent(
      text: ([what] + reasons).joined(separator: "; "),
      json: [
        "event": "tap", "id": id, "time": tap.time, "uri": tap.uri, "title": tap.title, "handler": tap.handler,
        "reason": tap.reason, "claimants": resolution?.claimants, "moreClaimants": resolution?.moreClaimants,
      ])
  }

  static func closed(_ id: String, _ state: String, _ tap: TapDescription?) -> MonitorEvent {
    let reason: String? = tap.flatMap { $0.stateReason.isEmpty ? nil : $0.stateReason }
    // Only of a tap without a link, because such a tap had no `tap` event.
    let title: String? = tap.flatMap { $0.uri.isEmpty && !$0.title.isEmpty ? $0.title : nil }
    return MonitorEvent(
      text: (["tap \(id): \(state)"] + [title, reason].compactMap(\.self)).joined(separator: "; "),
      json: ["event": "tap-closed", "id": id, "state": state, "reason": reason, "title": title])
  }

  static func tagRemoved(_ id: String) -> MonitorEvent {
    MonitorEvent(text: "tap \(id): the tag was removed", json: ["event": "tag-removed", "id": id])
  }

  static func cleared(_ count: UInt32) -> MonitorEvent {
    MonitorEvent(text: "taps removed from the inbox: \(count)", json: ["event": "inbox-cleared", "count": count])
  }
}
