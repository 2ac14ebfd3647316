/// Why a tap is in its state: a code for programs, and a detail for people.
///
/// The stored code is the same in all languages and versions. The words that a person reads are made when they are
/// shown.
package struct TapReason: Sendable, Hashable {
  /// The kind of reason. Later versions may add some; of an unknown code only the ``TapReason/detail`` is shown.
  package struct Code: RawRepresentable, Sendable, Hashable {
    /// The code in the database and in the bus interface.
    package let rawValue: String

    /// The code in the database and in the bus interface.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The state needs no reason, or the detail is the reason.
    package static let none = Code(rawValue: "")
    /// The agent ended while the tap was being opened.
    package static let endedWhileOpening = Code(rawValue: "ended-while-opening")
    /// The handler was sent the message and may have received it; the detail says more. Only older agents store this
    /// code. Newer ones use those of `HandOverDoubt`.
    package static let noAnswer = Code(rawValue: "no-answer")
    /// The handler refused the message; the detail may be its own error text.
    package static let handlerFailed = Code(rawValue: "handler-failed")
    /// The handler was not reached: it is not installed, or did not start.
    package static let notStarted = Code(rawValue: "not-started")
    /// The tag contains neither a link nor a text nor a record for apps. The tap is kept, without a notification.
    package static let nothingToOpen = Code(rawValue: "nothing-to-open")
    /// A rule of the user or the administrator ignores the tag, and the detail names it. Or no app takes the tag's
    /// record, for example a contact card, and the detail says why. Or the tag has no message, and no rule acts on it.
    /// The tap is kept, without a notification.
    package static let ignored = Code(rawValue: "ignored")
    /// The agent runs on a station without a desktop, where nobody can be asked. Only rules with `Ask=no` act there. The
    /// tap is kept, without a notification.
    package static let headless = Code(rawValue: "headless")
    /// The contents of the tag are no message, and the detail says why.
    package static let damaged = Code(rawValue: "damaged")
    /// The link on the tag may not be opened.
    package static let refused = Code(rawValue: "refused")
    /// The same tag was read again, and its newer tap replaced this one.
    package static let tappedAgain = Code(rawValue: "tapped-again")
    /// Newer taps took its place on the screen.
    package static let madeRoom = Code(rawValue: "made-room")
    /// It waited longer than the retention allows.
    package static let overdue = Code(rawValue: "overdue")
  }

  /// The kind of reason.
  package let code: Code
  /// One line, possibly from another program; empty if the code is enough.
  package let detail: String

  /// No reason.
  package static let none = TapReason(.none)

  /// The length to which a detail is cut, in Unicode scalars.
  package static let maximumDetail = 500

  /// Makes one line of the detail. Control characters become spaces, and a long line is cut.
  package init(_ code: Code, detail: String = "") {
    self.code = code
    var line = String.UnicodeScalarView()
    for scalar in detail.unicodeScalars.prefix(Self.maximumDetail) {
      line.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    self.detail = String(line)
  }
}
