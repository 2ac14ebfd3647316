/// The reasons why no reader scans, as the daemon names them.
package enum SuspendReason {
  /// The reason for a person; a reason that this version does not know, unchanged.
  package static func words(_ reason: String) -> String {
    switch reason {
    case "disabled": "switched off"
    case "no-reader": "no reader"
    case "no-agent": "no agent is registered"
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
