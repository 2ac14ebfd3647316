import Notifications
import TagrouteClient

extension WritingRun.Problem {
  /// A sentence for the user.
  package var words: String {
    switch self {
    case .tag(let failure): failure.words
    case .room(let bytes):
      translated("It does not fit: the tag has room for {number} bytes.", ["number": "\(bytes)"])
    case .notLocked(let problem):
      translated("The message is on the tag, but the tag is not locked: {reason}", ["reason": problem.words])
    case .ended(let reason): reason.words
    case .noReader: translated("No reader is ready. Plug one in, or look at the page Reader.")
    case .other(let text): DisplayText(text, limit: 500).string
    }
  }
}

extension TagFailure {
  fileprivate var words: String {
    switch self {
    case .tagLost: translated("The tag was taken away too soon.")
    case .noMessage: translated("The tag holds no message.")
    case .readOnly: translated("The tag is read-only.")
    case .tooLong: translated("It does not fit on the tag.")
    case .notSupported: translated("This does not work with this kind of tag.")
    case .refused: translated("The tag refuses this: it may be protected.")
    case .timedOut: translated("The tag did not answer in time.")
    case .busy: translated("The reader is busy. Try again.")
    case .notAsWritten: translated("The tag does not hold what was written.")
    case .cannotLock: translated("This tag cannot be made read-only.")
    case .readerLost: ReaderSessionEnd.Reason.readerLost.words
    case .sessionEnded: ReaderSessionEnd.Reason.timedOut.words
    case .notFormatted: translated("The tag is blank. Switch on “Format blank tags” to write on it.")
    case .notAuthorized: translated("This is not allowed.")
    }
  }
}

extension ReaderSessionEnd.Reason {
  /// A sentence for the user.
  var words: String {
    switch self {
    case .cancelled: translated("It was cancelled.")
    case .timedOut: translated("The time is up.")
    case .readerLost: translated("The reader is gone, or another program has it.")
    case .sessionInactive: translated("Your session is locked or is not the active one.")
    case .sleeping: translated("The computer goes to sleep.")
    case .daemonStopping, .daemonGone: translated("The service tagrouted does not run.")
    case .invalidated, .firstRead: translated("The reader session is over.")
    }
  }
}
