import TagrouteClient

/// One line of `monitor`: a text for a person, or an object for a script. Scripts depend on its keys.
protocol MonitorEvent: Encodable, Sendable {
  var text: String { get }
}

extension MonitorEvent {
  /// - Returns: why it could not be written.
  func print(_ console: Console) -> Failure? {
    do throws(Failure) {
      if console.json { try console.object(self, onOneLine: true) } else { try console.line(text) }
      return nil
    } catch {
      return error
    }
  }
}

struct StatusEvent: MonitorEvent {
  let event = "status"
  let scanning: Bool
  let suspendReasons: [String]
  let readers: [StatusReport.Reader]

  init(_ report: StatusReport) {
    (scanning, suspendReasons, readers) = (report.scanning, report.suspendReasons, report.readers)
  }

  var text: String {
    let readers = readers.map { "\($0.name.isEmpty ? $0.device : $0.name): \($0.state)" }
    return ([StatusReport.verdict(scanning, suspendReasons)] + readers).joined(separator: "; ")
  }
}

struct DaemonGoneEvent: MonitorEvent {
  let event = "daemon-gone"

  var text: String { "the daemon stopped" }
}

struct TapEvent: MonitorEvent {
  let event = "tap"
  let id: String
  let time: UInt64
  let uri: String
  let title: String
  @OrNull private(set) var handler: String?
  @OrNull private(set) var reason: String?
  @OrNull private(set) var claimants: [ClaimantDescription]?
  @OrNull private(set) var moreClaimants: UInt32?

  init(id: String, _ tap: TapDescription?, _ resolution: Resolution?) {
    self.id = id
    time = tap?.time ?? 0
    uri = tap?.uri ?? ""
    title = tap?.title ?? ""
    handler = tap?.handler
    reason = tap?.reason
    claimants = resolution?.claimants
    moreClaimants = resolution?.moreClaimants
  }

  var text: String {
    let what = "tap \(id): \(uri.isEmpty ? title : uri)\(handler.map { " for \($0)" } ?? "")"
    return ([what] + [reason].compactMap(\.self) + (claimants ?? []).map(\.reason)).joined(separator: "; ")
  }
}

struct TapClosedEvent: MonitorEvent {
  let event = "tap-closed"
  let id: String
  let state: String
  @OrNull private(set) var reason: String?
  /// Only of a tap without a link, because such a tap had no `tap` event.
  @OrNull private(set) var title: String?

  init(id: String, state: String, _ tap: TapDescription?) {
    self.id = id
    self.state = state
    reason = tap.flatMap { $0.stateReason.isEmpty ? nil : $0.stateReason }
    title = tap.flatMap { $0.uri.isEmpty && !$0.title.isEmpty ? $0.title : nil }
  }

  var text: String { (["tap \(id): \(state)"] + [title, reason].compactMap(\.self)).joined(separator: "; ") }
}

struct InboxClearedEvent: MonitorEvent {
  let event = "inbox-cleared"
  let count: UInt32

  var text: String { "taps removed from the inbox: \(count)" }
}
