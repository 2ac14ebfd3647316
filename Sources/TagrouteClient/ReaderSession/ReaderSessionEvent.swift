import Names

/// An event of a reader session.
public enum ReaderSessionEvent: Sendable, Hashable {
  /// The session has the reader now, for 60 seconds at most.
  case activated
  /// A tag is on the reader. It may have been there before the session.
  case tagDetected(ReaderTag)
  /// The tag was removed, and can no longer be used. If it is put back, it is a new tag.
  case tagRemoved(ReaderTag)
  /// In a session with `endsAfterFirstRead`: the NDEF message of the first tag that has one, encoded. `ended` follows.
  case messageRead([UInt8], from: ReaderTag)
  /// A long operation on a tag has transferred this many bytes so far.
  case progress(bytes: UInt64, of: ReaderTag)
  /// The session is over. This is the last event, and it always comes.
  case ended(ReaderSessionEnd)
}

/// How a reader session has ended.
public struct ReaderSessionEnd: Sendable, Hashable {
  /// Why a session is over.
  public enum Reason: RawRepresentable, Sendable, Hashable, CaseIterable {
    /// The client called `invalidate`.
    case invalidated
    /// The user cancelled it. A reason that this version does not know is read as this.
    case cancelled
    /// Its 60 seconds are over.
    case timedOut
    /// The session was to end after the first message, which has been read.
    case firstRead
    /// The reader is gone, has failed, or was lent to another program.
    case readerLost
    /// The user's session is no longer the active one, or is locked.
    case sessionInactive
    /// The machine goes to sleep.
    case sleeping
    /// The daemon is stopping.
    case daemonStopping
    /// The daemon, or the bus, has gone without a signal. Only this library uses this reason.
    case daemonGone

    /// The name on the bus.
    public var rawValue: String { name?.rawValue ?? "daemon-gone" }

    private var name: Names.SessionEnd? {
      switch self {
      case .invalidated: .invalidated
      case .cancelled: .cancelled
      case .timedOut: .timedOut
      case .firstRead: .firstRead
      case .readerLost: .readerLost
      case .sessionInactive: .sessionInactive
      case .sleeping: .sleeping
      case .daemonStopping: .daemonStopping
      case .daemonGone: nil
      }
    }

    /// - Parameter rawValue: the name on the bus. The result is nil for a reason that this version does not know.
    public init?(rawValue: String) {
      guard let reason = Reason.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
      self = reason
    }
  }

  /// The reason.
  public var reason: Reason
  /// The reason in English for a person, or the text given to `invalidate`; may be empty.
  public var message: String

  /// - Parameters:
  ///   - reason: the reason.
  ///   - message: the reason for a person.
  public init(_ reason: Reason, message: String = "") {
    self.reason = reason
    self.message = message
  }

  /// Reads the values on the bus.
  init(name: String, message: String) {
    self.init(Reason(rawValue: name) ?? .cancelled, message: message)
  }
}
