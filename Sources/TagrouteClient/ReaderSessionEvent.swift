import Names

/// What happens in a reader session.
public enum ReaderSessionEvent: Sendable, Hashable {
  /// The reader is this session's from now on, for 60 seconds at most.
  case activated
  /// A tag is there. One that lay on the reader before is found, too.
  case tagDetected(ReaderTag)
  /// It is away; nothing can be done with it any more. The same tag put back is another one.
  case tagRemoved(ReaderTag)
  /// In a session with `endsAfterFirstRead`: the NDEF message of the first tag that has one, encoded. `ended` follows.
  case messageRead([UInt8], from: ReaderTag)
  /// What is being done with a tag takes long; so many bytes were moved so far.
  case progress(bytes: UInt64, of: ReaderTag)
  /// The session is over. It is the last event, and it always comes.
  case ended(ReaderSessionEnd)
}

/// How a reader session has ended.
public struct ReaderSessionEnd: Sendable, Hashable {
  /// Why a session is over.
  public enum Reason: RawRepresentable, Sendable, Hashable, CaseIterable {
    /// `invalidate` was called.
    case invalidated
    /// The person at the machine does not want it. Reasons that this version does not know count as this.
    case cancelled
    /// Its 60 seconds were up.
    case timedOut
    /// It was to end after the first message, and that was read.
    case firstRead
    /// The reader is gone, has failed, or was given to another program.
    case readerLost
    /// The user is no longer the one at the machine, or the session is locked.
    case sessionInactive
    /// The machine goes to sleep.
    case sleeping
    /// The daemon is ending.
    case daemonStopping
    /// The daemon, or the bus, is gone without a word; only this side says so.
    case daemonGone

    /// What the bus says.
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

    /// - Parameter rawValue: what the bus says; nil comes of a reason that this version does not know.
    public init?(rawValue: String) {
      guard let reason = Reason.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
      self = reason
    }
  }

  /// Why.
  public var reason: Reason
  /// The same in English words for a person, or what was given to `invalidate`; may be empty.
  public var message: String

  /// - Parameters:
  ///   - reason: why.
  ///   - message: the same in words for a person.
  public init(_ reason: Reason, message: String = "") {
    self.reason = reason
    self.message = message
  }

  /// What the bus says.
  init(name: String, message: String) {
    self.init(Reason(rawValue: name) ?? .cancelled, message: message)
  }
}
