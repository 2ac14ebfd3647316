import Localization
import Notifications

/// The texts that the agent shows to its user. xgettext extracts them from here.
///
/// A text is translated as a whole sentence, because languages differ in word order. Log lines and D-Bus messages stay
/// English, and are not here.
enum Messages {
  /// In notification servers.
  static let applicationName = "Tagroute"

  /// The most characters in a title. Servers cut a longer one, often without its verb.
  static let maximumTitle = 40
  /// The most characters of a button with a name beside one other button, and beside two. Servers put all buttons on one
  /// line. That of notification-daemon has room for these, and its close button disappears behind a longer line.
  static let maximumLabel = (ofTwo: 18, ofThree: 14)

  /// The text with the name, of which the end is cut if the text would be too long. At least eight characters remain.
  static func fitted(_ name: DisplayText, in limit: Int = maximumTitle, _ text: (String) -> String) -> String {
    let whole = text(name.string)
    // Swift may count a whole line of Hangul letters as one character.
    guard max(whole.count, whole.unicodeScalars.count / 2) > limit else { return whole }
    return text(DisplayText(name.string, limit: max(limit - text("").count, 8)).string)
  }

  static func willOpen(in handler: DisplayText, limit: Int = maximumTitle) -> String {
    fitted(handler, in: limit) { app in
      // Translators: title of a notification, and label of a button. {app} is the name of an app, for example Firefox.
      translated("Open in {app}", ["app": app])
    }
  }
  static var open: String {
    // Translators: label of a button: open the link that was on the NFC tag, in the app that the title names.
    translated("Open")
  }

  static func mayOpen(_ handler: DisplayText, _ claim: String) -> String {
    fitted(handler) { app in
      isType(claim)
        // Translators: title of a question, with at most 30 characters beside the name. Below it is for example “Tags with text/vcard, from now on”.
        ? translated("Allow “{app}” to open tags?", ["app": app])
        // Translators: title of a question, with at most 30 characters beside the name. Below it is for example “Links to menu.example.com, from now on”.
        : translated("Allow “{app}” to open links?", ["app": app])
    }
  }
  static func which(_ claim: String) -> String {
    isType(claim)
      // Translators: title of a question; each answer is a button with the name of an app. Below it is for example “Tags with text/vcard, from now on”.
      ? translated("Which app opens these tags?")
      // Translators: title of a question; each answer is a button with the name of an app. Below it is for example “Links to menu.example.com, from now on”.
      : translated("Which app opens these links?")
  }
  /// The first line below a question: what the answer is kept for.
  static func fromNowOn(_ claim: String) -> String {
    if claim.hasSuffix(":") {
      // Translators: below “Allow … to open links?” and “Which app opens these links?”. {scheme} is the beginning of a link up to its colon, for example mailto:
      return translated("{scheme} links, from now on", ["scheme": claim])
    }
    if isType(claim) {
      // Translators: below “Allow … to open tags?” and “Which app opens these tags?”. {type} is a kind of data on a tag, for example text/vcard or example.com:coupon
      return translated("Tags with {type}, from now on", ["type": claim])
    }
    // Translators: below “Allow … to open links?” and “Which app opens these links?”. {domain} is an internet domain, for example menu.example.com
    return translated("Links to {domain}, from now on", ["domain": claim])
  }
  /// A media type has a slash, and an external type a colon. A domain has neither, and a scheme ends in a colon.
  private static func isType(_ claim: String) -> Bool {
    !claim.hasSuffix(":") && (claim.contains("/") || claim.contains(":"))
  }

  static var allowAndOpen: String {
    // Translators: label of a button: allow the app this from now on, and open the link now.
    translated("Allow and Open")
  }
  static func allow(_ handler: DisplayText) -> String {
    fitted(handler, in: maximumLabel.ofThree) { app in
      // Translators: label of a button: allow this app to open the links that the question is about, and open the link now.
      translated("Allow {app}", ["app": app])
    }
  }
  static var more: String {
    // Translators: label of a button: show other ways to open what is on the tag, such as another app.
    translated("More…")
  }

  static var showAgain: String {
    // Translators: what a click on a question does that is on none of its buttons: the question stays.
    translated("Ask again")
  }

  static func willRun(_ rule: DisplayText) -> String {
    fitted(rule) { rule in
      // Translators: title of a notification. {rule} is the name that the user has given to a rule that runs a program.
      translated("Run “{rule}”", ["rule": rule])
    }
  }
  static var run: String {
    // Translators: label of a button: run the program that the title is about.
    translated("Run")
  }
  static func hasRun(_ rule: DisplayText) -> String {
    fitted(rule) { rule in
      // Translators: title of a notification: the program was started at once, as the rule {rule} says.
      translated("Started “{rule}”", ["rule": rule])
    }
  }
  static func couldNotRun(_ rule: DisplayText) -> String {
    fitted(rule) { rule in
      translated("Could not start “{rule}”", ["rule": rule])
    }
  }
  static func hasFailed(_ rule: DisplayText) -> String {
    fitted(rule) { rule in
      // Translators: title: the program of the rule {rule} was started, and has ended with an error.
      translated("“{rule}” failed", ["rule": rule])
    }
  }
  static func mayHaveRun(_ rule: DisplayText) -> String {
    fitted(rule) { rule in
      // Translators: title: nobody knows whether the program of the rule {rule} was started.
      translated("“{rule}” may have been started", ["rule": rule])
    }
  }
  static func hasOpened(in handler: DisplayText) -> String {
    fitted(handler) { app in
      // Translators: title of a notification: the link on the tag was opened at once, as a rule of the user says.
      translated("Opened in {app}", ["app": app])
    }
  }
  static var alwaysOpen: String {
    // Translators: label of a button: open it now, and in future without a question as soon as this tag is read.
    translated("Always open at once")
  }
  static var askNextTime: String {
    // Translators: label of a button: the tag was opened without a question, and should not be the next time.
    translated("Ask next time")
  }
  static var notSaved: String {
    // Translators: title: the user's answer for this tag, “Always open at once” or “Ask next time”, was not saved.
    translated("Your choice for this tag was not saved")
  }
  static func cannotChange(_ file: DisplayText) -> String {
    // Translators: below “Your choice for this tag was not saved”. {file} is the path of a file. tagroute-agent is a program.
    translated("{file} cannot be changed. The journal of tagroute-agent says why.", ["file": file.string])
  }
  static func changeRule(_ rule: DisplayText, at place: DisplayText) -> String {
    // Translators: the program does not change a rule that a person wrote. {rule} is its name, {place} its file and line.
    translated(
      "The rule “{rule}” opens this tag. Change it here: {place}", ["rule": rule.string, "place": place.string])
  }

  static func thisIs(_ host: DisplayText) -> String {
    fitted(host) { host in
      // Translators: title: the answer to the question which computer this is. {host} is the computer's name.
      translated("This is {host}", ["host": host])
    }
  }
  static var askedToIdentify: String {
    // Translators: below “This is {host}”.
    translated("A program has asked this computer to show which one it is")
  }

  static var linkOnTag: String {
    // Translators: title above the link that is on an NFC tag.
    translated("Link on a tag")
  }

  static var nobodyOpens: String { translated("No app opens this link") }
  static var text: String {
    // Translators: title above what is written on an NFC tag that holds no link.
    translated("Text on a tag")
  }
  static var copy: String { translated("Copy") }
  static var close: String { translated("Close") }
  static var couldNotCopy: String {
    // Translators: title: the link or the text of a tag could not be put on the clipboard.
    translated("Could not copy")
  }

  static func couldNotOpen(in handler: DisplayText) -> String {
    fitted(handler) { app in
      translated("Could not open in {app}", ["app": app])
    }
  }
  static var dismiss: String {
    // Translators: label of the last button: I do not want to do anything with this tag; take the notification away.
    translated("Dismiss")
  }
  static var tryAgain: String { translated("Try again") }
  static func mayHaveOpened(in handler: DisplayText) -> String {
    fitted(handler) { app in
      // Translators: title: the app was given the link and did not answer, so nobody knows whether it has opened it.
      translated("May have been opened in {app}", ["app": app])
    }
  }

  static var holdTag: String {
    // Translators: title. A tag is an NFC tag or card, the reader an NFC reader at the computer.
    translated("Hold a tag near the reader")
  }
  /// The application and its message are both untrusted.
  static func sessionBody(application: DisplayText, message: DisplayText) -> String {
    if application.isEmpty { return message.string }
    if message.isEmpty {
      // Translators: below “Hold a tag near the reader”: the app that wants to use the tag.
      return translated("For “{app}”", ["app": application.string])
    }
    // Translators: below “Hold a tag near the reader”: the app that wants to use the tag, and what it says itself.
    return translated("“{app}”: {message}", ["app": application.string, "message": message.string])
  }
  static var cancel: String { translated("Cancel") }
  static var sessionDone: String { translated("✓ Done") }
  static var sessionFailed: String { translated("✗ That did not work") }
  /// Instead of the button, on a server without buttons.
  static var sessionWithoutButtons: String {
    // Translators: instead of a “Cancel” button, where the desktop shows no buttons. It: the waiting for a tag.
    translated("It ends by itself, after a minute at most")
  }

  static var anotherAgent: String {
    // Translators: title of a warning: a program that is not this one has registered for the user's NFC tags, and gets them all.
    translated("Another program receives your tags")
  }
  static var findAnotherAgent: String {
    // Translators: below “Another program receives your tags”. “tagroute doctor” is a command, and stays as it is.
    translated("It registered before Tagroute. Run “tagroute doctor” in a terminal to see what to do.")
  }

  /// Instead of the buttons, on a server without buttons.
  static func withoutButtons(_ tap: String) -> String {
    translated(
      // Translators: instead of buttons. What was on the tag is kept, and shown again as soon as there are. {command} is for a terminal.
      "The desktop shows no buttons now; this tap is kept for when it does. To open it before: {command}",
      ["command": "tagroute inbox open \(tap.prefix(8))"])
  }

  /// xgettext needs a literal.
  static func translated(_ message: String, _ values: [String: String] = [:]) -> String {
    Translation.text(message, values)
  }
}

extension Messages {
  static var emptyMessage: String {
    // Translators: in a list of tags that were read: the tag is made for messages and holds none.
    translated("Empty message")
  }
  /// Also the title of a notification that shows the UID of such a tag.
  static var bareTag: String {
    // Translators: in a list of tags that were read, and title above a tag's number: there is no message on the tag. For example a bank card.
    translated("Tag without a message")
  }
  static var link: String {
    // Translators: in a list of tags that were read: there is a link in it of a kind that is left alone here. Nobody has forbidden it.
    translated("Link that is not opened")
  }
  static var contactCard: String {
    // Translators: in a list of tags that were read: the tag holds a vCard, a person's name and address.
    translated("Contact card")
  }
  static var calendarEntry: String { translated("Calendar entry") }
  static var wirelessSettings: String {
    // Translators: in a list of tags that were read: the tag holds the name of a wireless network, and its password.
    translated("Wi-Fi settings")
  }
  static var bluetoothPairing: String {
    // Translators: in a list of tags that were read: the tag says how to connect to a Bluetooth device.
    translated("Bluetooth pairing")
  }
  static func data(of type: DisplayText) -> String {
    // Translators: in a list of tags that were read. {type} is for example image/png or example.com:coupon
    translated("Data of type {type}", ["type": type.string])
  }
  static func save(_ data: TagData, of tap: String) -> String {
    translated(
      // Translators: below the kind of data on a tag, for example “Data of type application/zip”. {size} is for example 12 kB, {command} is for a terminal.
      "{size}. No app opens it. To save it: {command}",
      ["size": data.size, "command": "tagroute inbox export --record \(data.record) \(tap.prefix(8)) FILE"])
  }
  static var unknownData: String { translated("Data of an unknown kind") }
}
