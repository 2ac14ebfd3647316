public import Bus
import Names

/// Why something was not done with a tag, as the error of a `ReaderTag`'s call says it.
public enum TagFailure: Sendable, Hashable, CaseIterable {
  /// The tag is away, or the session is over and its tags with it.
  case tagLost
  /// The tag is formatted and holds no message.
  case noMessage
  /// The tag is read-only.
  case readOnly
  /// The message, or the command, is too long for the tag or the reader.
  case tooLong
  /// Not with this kind of tag, or it is not formatted for NDEF.
  case notSupported
  /// The tag refuses: it is protected, or holds what contradicts itself.
  case refused
  /// The tag is there and did not answer in time.
  case timedOut
  /// Too many calls wait already.
  case busy
  /// What was read back is not what was written.
  case notAsWritten
  /// The tag cannot be made read-only.
  case cannotLock
  /// The reader has failed, or was taken away.
  case readerLost
  /// The session has ended.
  case sessionEnded
  /// What was asked for is not allowed; the error's message says what.
  case notAuthorized

  /// Nil where the error is about something else: a wrong argument, the bus, the daemon.
  ///
  /// - Parameter error: what a call of a `ReaderTag` has thrown.
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
    case Names.Errors.readerLost: self = .readerLost
    case Names.Errors.sessionEnded: self = .sessionEnded
    case Names.Errors.notAuthorized, BusError.Name.accessDenied: self = .notAuthorized
    default: return nil
    }
  }

  /// Whether the same may work in a moment, with the same tag.
  public var isTemporary: Bool { [.tagLost, .timedOut, .busy, .sessionEnded].contains(self) }
}
