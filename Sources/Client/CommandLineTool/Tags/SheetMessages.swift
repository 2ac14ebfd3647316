import Localization
import TagrouteClient

/// All texts of this program on the sheet of a reader session. xgettext extracts them for translation.
///
/// The agent shows them in a notification, so they are in the user's language. The terminal output stays English.
enum SheetMessages {
  // Translators: these are below “Hold a tag near the reader”, after the name of the program.
  static var read: String { translated("Hold the tag that is to be read near the reader.") }
  static var any: String { translated("Hold the tag near the reader.") }
  static var write: String { translated("Hold the tag that is to be written near the reader.") }
  static var lock: String { translated("Hold the tag that is to be made read-only near the reader.") }

  static var noTag: String { translated("No tag came in time.") }
  /// For an operation that changes a tag, if several lie there.
  static var several: String { translated("More than one tag lies there. Take all but one away.") }
  static var noMessage: String { translated("The tag holds no message.") }
  /// For a failure that is explained only on the terminal, in English.
  static var elsewhere: String {
    // Translators: below “✗ That did not work”. The terminal is the window in which the user has typed the command.
    translated("The terminal says why.")
  }

  /// Describes a failed operation on a tag; nil for a failure of the reader or the session.
  static func words(for failure: TagFailure) -> String? {
    switch failure {
    case .tagLost: translated("The tag was taken away too soon.")
    case .noMessage: noMessage
    case .readOnly: translated("The tag is read-only.")
    case .tooLong: translated("It does not fit on the tag.")
    case .notSupported: translated("This does not work with this kind of tag.")
    case .refused: translated("The tag refuses this: it may be protected.")
    case .timedOut: translated("The tag did not answer in time.")
    case .notAsWritten: translated("The tag does not hold what was written.")
    case .cannotLock: translated("This tag cannot be made read-only.")
    case .notAuthorized: translated("This is not allowed.")
    case .notFormatted, .busy, .readerLost, .sessionEnded: nil
    }
  }

  /// Translates a literal, which xgettext finds by the name of this function.
  ///
  /// Falls back to English if the daemon would refuse the translation. The command must not fail in one language only.
  private static func translated(_ message: String) -> String {
    let words = Translation.text(message, [:])
    return Console.forSheet(words) == words ? words : message
  }
}
