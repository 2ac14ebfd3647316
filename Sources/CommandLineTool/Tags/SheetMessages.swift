import Localization
import TagrouteClient

/// Every text of ours on the sheet of a reader session, from which xgettext takes what is to be translated.
///
/// The agent shows it among its own words, so it is in the user's language; what is said at the terminal stays English.
enum SheetMessages {
  // Translators: these are below “Hold a tag near the reader”, after the name of the program.
  static var read: String { translated("Hold the tag that is to be read near the reader.") }
  static var any: String { translated("Hold the tag near the reader.") }
  static var write: String { translated("Hold the tag that is to be written near the reader.") }
  static var lock: String {
    // Translators: nothing makes the tag writable again, so “for ever” is not to be left out.
    translated("Hold the tag that is to be made read-only for ever near the reader.")
  }

  /// What is said where no tag has come.
  static var noTag: String { translated("No tag came in time.") }
  /// What is said where a tag is none that holds messages, or holds none.
  static var noMessage: String { translated("The tag holds no message.") }
  /// What is said where only the terminal has words for it, which are English.
  static var elsewhere: String {
    // Translators: below “✗ That did not work”. The terminal is the window in which the user has typed the command.
    translated("The terminal says why.")
  }

  /// Why something was not done with a tag.
  ///
  /// - Returns: nil where it is about the reader or the session.
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
    case .busy, .readerLost, .sessionEnded: nil
    }
  }

  /// What xgettext looks for: a text as one literal.
  ///
  /// In English where the daemon would not take the translation: that is no reason for a command to fail in one language.
  private static func translated(_ message: String) -> String {
    let words = Translation.text(message, [:])
    return Console.forSheet(words) == words ? words : message
  }
}
