import Notifications

/// Every text that the agent shows to its user, in one place, so that translation has one place to begin.
enum Messages {
  /// The name of the program, as notification servers show it.
  static let applicationName = "Tagroute"

  /// The title of a tap's notification: what a click will do.
  static func willOpen(in handler: DisplayText) -> String { "Open in \(handler)" }
  /// The label of the button that does it.
  static let open = "Open"

  /// The title of a tap's notification where nobody vouches for its only handler.
  static func mayOpen(_ handler: DisplayText, links claim: String) -> String {
    "Allow “\(handler)” to open \(links(claim))?"
  }
  /// The label of the button that does it.
  static let allowAndOpen = "Allow and Open"
  /// The title of a tap's notification where there are several handlers; each is a button.
  static func which(links claim: String) -> String { "Which app opens \(links(claim))?" }
  /// The label of the button of one for which nobody vouches.
  static func allow(_ handler: DisplayText) -> String { "Allow \(handler)" }
  private static func links(_ claim: String) -> String {
    claim.hasSuffix(":") ? "\(claim) links of tags" : "links of \(claim)"
  }

  /// The label of a click on a question itself, which is no answer to it.
  static let showAgain = "Ask again"

  /// The title of a tap's notification where no app opens its link.
  static let nobodyOpens = "No app opens this link"
  /// The title of a tap's notification where there is only a text.
  static let text = "Text on a tag"
  /// The label of the button that puts it on the clipboard.
  static let copy = "Copy"
  /// The label where there is nothing to be done.
  static let close = "Close"
  /// The title where that did not work.
  static let couldNotCopy = "Could not copy"

  /// The title after a hand-over that the handler did not take.
  static func couldNotOpen(in handler: DisplayText) -> String { "Could not open in \(handler)" }
  /// The label of the button that hands over once more.
  static let tryAgain = "Try again"
  /// The title after a hand-over that nobody knows the end of.
  static func mayHaveOpened(in handler: DisplayText) -> String { "May have been opened in \(handler)" }

  /// Takes the buttons' place on a server that has none.
  static let withoutButtons = "The desktop shows no buttons now; this tap is kept for when it does"

  /// Why a tap failed that was being opened when the agent ended.
  static let endedWhileOpening = unknown("the agent ended while it was being opened")
  /// Why a tap failed of which nobody knows whether the handler has it.
  static func unknown(_ reason: String) -> String { "\(failure(reason)); \(mayHave)" }
  /// Why a tap failed: one bounded line, for it may be what a handler says.
  static func failure(_ reason: String) -> String { DisplayText(reason, limit: 200).string }
  /// Whether the reason of a failed tap leaves open whether the handler has it.
  static func isUnknown(_ reason: String) -> Bool { reason.hasSuffix("; \(mayHave)") }
  private static let mayHave = "it may have been opened"
  /// Why a tap was dismissed whose tag was put on a reader again.
  static let tappedAgain = "the same tag was read again"
  /// Why the time of a tap on the screen ended.
  static let madeRoom = "newer taps took its place on the screen"
}
