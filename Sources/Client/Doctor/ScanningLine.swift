package import TagrouteClient

/// Whether a reader scans, and why not.
package struct ScanningLine: Hashable, Sendable, CustomStringConvertible {
  /// The beginning of the line.
  package enum Verdict: String, CaseIterable, Sendable {
    case scanning
    /// No reason prevents it, and the reader has not begun yet.
    case aboutToScan = "about to scan"
    case notScanning = "not scanning"
    /// `tagroute off`.
    case off
  }

  package let verdict: Verdict
  /// The rest of the line.
  package let text: String

  /// `words` prints a reason.
  package init(_ status: DaemonStatus, _ words: (String) -> String) {
    self.init(status.scanning, status.suspendReasons, words)
  }

  /// `reasons` are the daemon's, and `words` prints them.
  package init(_ scanning: Bool, _ reasons: [String], _ words: (String) -> String = { $0 }) {
    let others = reasons.filter { $0 != SuspendReason.disabled }.map(words).joined(separator: ", ")
    if scanning || reasons.isEmpty {
      (verdict, text) = (scanning ? .scanning : .aboutToScan, "")
    } else if reasons.contains(SuspendReason.disabled) {
      let more = others.isEmpty ? "" : "; other reasons not to scan: \(others)"
      (verdict, text) = (.off, "; commands and sessions may still use the reader\(more)")
    } else {
      (verdict, text) = (.notScanning, ": \(others)")
    }
  }

  package var description: String { verdict.rawValue + text }
}

/// The reasons why no reader scans, as the daemon names them.
package enum SuspendReason {
  static let disabled = "disabled"

  /// Whether the active session has no agent, although one may run there. With another reason about the session, the
  /// one in front is not a desktop of a user, or is locked: that passes by itself.
  package static func lackAgent(_ reasons: [String]) -> Bool {
    reasons.contains("no-agent") && !reasons.contains { $0 == "no-session" || $0.hasPrefix("session-") }
  }

  /// The reason for a person; a reason that this version does not know, unchanged.
  package static func words(_ reason: String) -> String {
    switch reason {
    case disabled: "switched off"
    case "no-reader": "no reader"
    case "no-agent": "no agent is registered for the reader's seat"
    case "no-session": "no user is logged in at the reader's seat"
    case "session-inactive": "the session is not active"
    case "session-remote": "the session is remote"
    case "session-not-graphical": "the session is not graphical"
    case "session-class": "the session is not a user session"
    case "session-locked": "the session is locked"
    case "lock-unknown": "no program reports whether the session is locked"
    case "sleeping": "the machine is going to sleep"
    case "reader-session": "an app uses the reader"
    case "inhibited": "a program has paused scanning"
    case "airplane-mode": "airplane mode"
    case "camera": "a camera is in use"
    case "display-off": "the display is off"
    default: reason
    }
  }
}
