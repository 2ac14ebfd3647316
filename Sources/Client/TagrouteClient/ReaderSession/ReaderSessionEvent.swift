/// An event of a reader session.
public enum ReaderSessionEvent: Sendable, Hashable {
  /// The session has the reader now, for 60 seconds at most.
  case activated
  /// A tag is on the reader. It may have been there before the session.
  case tagDetected(ReaderTag)
  /// The tag was removed, and can no longer be used. If it is put back, it is a new tag.
  case tagRemoved(ReaderTag)
  /// All tags that lie there together were reported: since the first of them, the reader has looked for every kind of
  /// tag of the session. Comes once after one or more `tagDetected`. A program that handles the tags of a round
  /// together waits for it before it calls them. A call delays it, and after `transceive` it may not come until the tag
  /// is removed. A daemon with interface version 1 does not send it.
  case roundEnded
  /// Polling has restarted after `ReaderSession.restartPolling`, which returns before that. All earlier tags were
  /// reported by `tagRemoved`. Each `tagDetected` that follows was found by the restarted search. Calls that are merged
  /// into one restart get one event. A round that has not ended before it gets no `roundEnded`. A daemon with interface
  /// version 1 does not send it.
  case pollingRestarted
  /// In a session with `endsAfterFirstRead`: the NDEF message of the first tag that has one, encoded. `ended` follows.
  case messageRead([UInt8], from: ReaderTag)
  /// A long operation on a tag has transferred this many bytes so far.
  case progress(bytes: UInt64, of: ReaderTag)
  /// The session is over. This is the last event, and it always comes.
  case ended(ReaderSessionEnd)
}

/// How a reader session has ended.
public struct ReaderSessionEnd: Sendable, Hashable {
  /// Why a session is over, with the words of `org.tagroute.Tagroute1.ReaderSession` as raw values.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The client called `invalidate`.
    case invalidated
    /// The user cancelled it. A reason that this version does not know is read as this.
    case cancelled
    /// Its 60 seconds are over.
    case timedOut = "timed-out"
    /// The session was to end after the first message, which has been read.
    case firstRead = "first-read"
    /// The reader is gone, has failed, or was lent to another program.
    case readerLost = "reader-lost"
    /// The user's session is no longer the active one, or is locked.
    case sessionInactive = "session-inactive"
    /// The machine goes to sleep.
    case sleeping
    /// The daemon is stopping.
    case daemonStopping = "daemon-stopping"
    /// The daemon, or the bus, has gone without a signal. Only this library uses this reason.
    case daemonGone = "daemon-gone"
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
