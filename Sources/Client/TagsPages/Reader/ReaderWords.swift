package import Bus
import Names
import Notifications
package import TagrouteClient

/// What the states of a reader, and the reasons why it does not scan, are called in the window.
package enum ReaderWords {
  package static func state(_ state: String) -> String {
    switch state {
    // Translators: the state of a reader.
    case "absent": translated("Not plugged in")
    // Translators: the state of a reader: it works, and does not look for tags.
    case "ready": translated("Ready")
    // Translators: the state of a reader.
    case "scanning": translated("Looks for tags")
    // Translators: the state of a reader.
    case "in-session": translated("In use by an app")
    // Translators: the state of a reader.
    case "released": translated("Lent to another program")
    // Translators: the state of a reader.
    case "failed": translated("Does not work")
    default: DisplayText(state, limit: 60).string
    }
  }

  /// Why no reader scans, as a sentence. A reason that this version does not know stays as it is.
  package static func reason(_ reason: String) -> String {
    switch reason {
    case "disabled": translated("Scanning is switched off.")
    case "no-reader": translated("There is no reader that works.")
    // Translators: the session is that of the user in front of the screen.
    case "no-agent": translated("No agent runs in the session at the screen.")
    case "no-session": translated("No user is logged in at the computer.")
    case "session-inactive": translated("Another session is at the screen.")
    case "session-remote": translated("The session comes over the network.")
    case "session-not-graphical": translated("A text console is at the screen.")
    case "session-class": translated("A login screen is at the screen.")
    case "session-locked": translated("The screen is locked.")
    case "lock-unknown": translated("No program reports whether the screen is locked.")
    case "sleeping": translated("The computer is going to sleep.")
    case "reader-session": translated("An app uses the reader.")
    case "inhibited": translated("A program has paused scanning.")
    case "airplane-mode": translated("Airplane mode is on.")
    case "camera": translated("A camera is in use.")
    case "display-off": translated("The display is off.")
    default: DisplayText(reason, limit: 60).string
    }
  }

  /// Whether the readers scan, and if not, why. `inhibitors` are the programs that have paused scanning.
  package static func scanning(_ status: DaemonStatus, _ inhibitors: [InhibitorDescription]) -> String {
    if status.scanning { return translated("Tags are read as soon as you hold them to a reader.") }
    if status.suspendReasons.isEmpty { return translated("Scanning is about to start.") }
    return status.suspendReasons.flatMap { name in
      name == "inhibited" && !inhibitors.isEmpty ? inhibitors.map(paused) : [reason(name)]
    }.joined(separator: " ")
  }

  private static func paused(by inhibitor: InhibitorDescription) -> String {
    translated(
      "{program} has paused scanning: {reason}.",
      [
        "program": DisplayText(inhibitor.who, limit: 60).string,
        "reason": DisplayText(inhibitor.why, limit: 120).string,
      ])
  }

  /// The program that drives a reader, from the daemon's string for the device.
  static func driver(_ device: String) -> String {
    switch device.prefix(while: { $0 != ":" }) {
    case "": ""
    case "pcsc": "pcscd"
    // Translators: which program drives a reader.
    case "usb": translated("None: no installed program can drive it")
    case let name: "libnfc (\(DisplayText(String(name), limit: 30).string))"
    }
  }

  /// Why the daemon cannot be asked.
  package static func absence(of error: BusError) -> String {
    switch error.name {
    case BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown:
      translated("The daemon does not run. The findings below say how to start it.")
    default: DisplayText(error.message, limit: 300, lines: 5).string
    }
  }

  /// Why the daemon or the agent has refused something.
  package static func problem(_ error: BusError) -> String {
    switch error.name {
    case Names.Errors.notAuthorized: translated("You are not allowed to do this now.")
    case BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown:
      translated("The program that does this does not run.")
    default: DisplayText(error.message, limit: 300, lines: 5).string
    }
  }
}
