public import Bus
import Names

/// Why an operation on a tag failed, from the error of a `ReaderTag`'s call.
public enum TagFailure: Sendable, Hashable, CaseIterable {
  /// The tag was removed, or the session and its tags are gone.
  case tagLost
  /// The tag is formatted and holds no message.
  case noMessage
  /// The tag is read-only.
  case readOnly
  /// The message, or the command, is too long for the tag or the reader.
  case tooLong
  /// This kind of tag does not support it, or the tag is not formatted for NDEF.
  case notSupported
  /// The tag refuses: it is protected, or its data is inconsistent.
  case refused
  /// The tag is there and did not answer in time.
  case timedOut
  /// Too many calls are waiting.
  case busy
  /// The data that was read back is not the data that was written.
  case notAsWritten
  /// The tag cannot be made read-only.
  case cannotLock
  /// The reader has failed, or was removed.
  case readerLost
  /// The session has ended.
  case sessionEnded
  /// The tag is blank. A session with ``ReaderSessionOptions/formatsBlankTags`` formats it.
  case notFormatted
  /// The operation is not allowed; the error's message gives the details.
  case notAuthorized

  /// Nil if the error has another cause: a wrong argument, the bus, the daemon.
  ///
  /// - Parameter error: the error of a `ReaderTag`'s call.
  public init?(_ error: BusError) {
    switch error.name {
    case Names.Errors.tagLost, BusError.Name.unknownObject: self = .tagLost
    case Names.Errors.empty: self = .noMessage
    case Names.Errors.readOnly: self = .readOnly
    case Names.Errors.tooLong: self = .tooLong
    case Names.Errors.notSupported, Names.Errors.notPossible: self = .notSupported
    case Names.Errors.refused: self = .refused
    case Names.Errors.timedOut: self = .timedOut
    case Names.Errors.busy, Names.Errors.tooMany: self = .busy
    case Names.Errors.notAsWritten: self = .notAsWritten
    case Names.Errors.cannotLock: self = .cannotLock
    case Names.Errors.notFormatted: self = .notFormatted
    case Names.Errors.readerLost: self = .readerLost
    case Names.Errors.sessionEnded: self = .sessionEnded
    case Names.Errors.notAuthorized, BusError.Name.accessDenied: self = .notAuthorized
    default: return nil
    }
  }

  /// Whether a retry with the same tag may succeed in a moment.
  public var isTemporary: Bool { [.tagLost, .timedOut, .busy, .sessionEnded].contains(self) }
}
