import Localization
import Notifications

/// The texts that the agent shows to its user. xgettext extracts them from here.
///
/// A text is translated as a whole sentence, because languages differ in word order. Log lines and D-Bus messages stay
/// English, and are not here.
enum Messages {
  /// The program's name in notification servers.
  static let applicationName = "Tagroute"

  /// The title of a tap's notification. It names the effect of a click.
  static func willOpen(in handler: DisplayText) -> String {
    // Translators: title of a notification, and label of a button. {app} is the name of an app, for example Firefox.
    translated("Open in {app}", ["app": handler.string])
  }
  /// The label of the button that opens the tap.
  static var open: String {
    // Translators: label of a button: open the link that was on the NFC tag, in the app that the title names.
    translated("Open")
  }

  /// The title if the only handler needs the user's permission. The permission comes first, because servers cut a long
  /// title.
  static func mayOpen(_ handler: DisplayText, links claim: String) -> String {
    if claim.hasSuffix(":") {
      // Translators: title of a question. {scheme} is the beginning of an address up to its colon, for example mailto:
      return translated(
        "{scheme} links of tags: allow “{app}” to open them?", ["app": handler.string, "scheme": claim])
    }
    // Translators: title of a question. {domain} is an internet domain, for example menu.example.com
    return translated("{domain} links: allow “{app}” to open them?", ["app": handler.string, "domain": claim])
  }
  /// The label of the button that gives the permission.
  static var allowAndOpen: String {
    // Translators: label of a button: allow the app this from now on, and open the link now.
    translated("Allow and Open")
  }
  /// The title if there are several handlers. Each has a button.
  static func which(links claim: String) -> String {
    if claim.hasSuffix(":") {
      // Translators: title of a question; each answer is a button with the name of an app. {scheme} is for example mailto:
      return translated("{scheme} links of tags: which app opens them?", ["scheme": claim])
    }
    // Translators: title of a question; each answer is a button with the name of an app.
    return translated("{domain} links: which app opens them?", ["domain": claim])
  }
  /// The label of the button of a handler that needs permission.
  static func allow(_ handler: DisplayText) -> String {
    // Translators: label of a button: allow this app to open the links that the question is about, and open the link now.
    translated("Allow {app}", ["app": handler.string])
  }

  /// The label of a click on the question itself, which does not answer it.
  static var showAgain: String {
    // Translators: what a click on a question does that is on none of its buttons: the question stays.
    translated("Ask again")
  }

  /// The title if no app opens the link.
  static var nobodyOpens: String { translated("No app opens this link") }
  /// The title if the tag has only a text.
  static var text: String {
    // Translators: title above what is written on an NFC tag that holds no link.
    translated("Text on a tag")
  }
  /// The label of the button that copies the text.
  static var copy: String { translated("Copy") }
  /// The label if no action is possible.
  static var close: String { translated("Close") }
  static var couldNotCopy: String {
    // Translators: title: the link or the text of a tag could not be put on the clipboard.
    translated("Could not copy")
  }

  /// The title if the handler did not take the tap.
  static func couldNotOpen(in handler: DisplayText) -> String {
    translated("Could not open in {app}", ["app": handler.string])
  }
  static var dismiss: String {
    // Translators: label of the last button: I do not want to do anything with this tag; take the notification away.
    translated("Dismiss")
  }
  /// The label of the button that repeats the hand-over.
  static var tryAgain: String { translated("Try again") }
  /// The title if the app did not answer the hand-over.
  static func mayHaveOpened(in handler: DisplayText) -> String {
    // Translators: title: the app was given the link and did not answer, so nobody knows whether it has opened it.
    translated("May have been opened in {app}", ["app": handler.string])
  }

  /// The title of a reader session's sheet.
  static var holdTag: String {
    // Translators: title. A tag is an NFC tag or card, the reader an NFC reader at the computer.
    translated("Hold a tag near the reader")
  }
  /// The sheet's text: the application and its message, which are both untrusted.
  static func sessionBody(application: DisplayText, message: DisplayText) -> String {
    if application.isEmpty { return message.string }
    if message.isEmpty {
      // Translators: below “Hold a tag near the reader”: the app that wants to use the tag.
      return translated("For “{app}”", ["app": application.string])
    }
    // Translators: below “Hold a tag near the reader”: the app that wants to use the tag, and what it says itself.
    return translated("“{app}”: {message}", ["app": application.string, "message": message.string])
  }
  /// The label of the button that cancels the reader session.
  static var cancel: String { translated("Cancel") }
  /// The title after a successful reader session.
  static var sessionDone: String { translated("✓ Done") }
  /// The title after a failed reader session.
  static var sessionFailed: String { translated("✗ That did not work") }
  /// Replaces the button on a server without buttons.
  static var sessionWithoutButtons: String {
    // Translators: instead of a “Cancel” button, where the desktop shows no buttons. It: the waiting for a tag.
    translated("It ends by itself, after a minute at most")
  }

  /// The title if another program is registered as the user's agent.
  static var anotherAgent: String {
    // Translators: title of a warning: a program that is not this one has registered for the user's NFC tags, and gets them all.
    translated("Another program receives your tags")
  }
  /// The text of that notification.
  static var findAnotherAgent: String {
    // Translators: below “Another program receives your tags”. “tagroute doctor” is a command, and stays as it is.
    translated("It registered before Tagroute. Run “tagroute doctor” in a terminal to see what to do.")
  }

  /// Replaces the buttons on a server without buttons, and names the command that opens the tap.
  static func withoutButtons(_ tap: String) -> String {
    translated(
      // Translators: instead of buttons. What was on the tag is kept, and shown again as soon as there are. {command} is for a terminal.
      "The desktop shows no buttons now; this tap is kept for when it does. To open it before: {command}",
      ["command": "tagroute inbox open \(tap.prefix(8))"])
  }

  /// Marks a text for xgettext, which needs a literal.
  static func translated(_ message: String, _ values: [String: String] = [:]) -> String {
    Translation.text(message, values)
  }
}
