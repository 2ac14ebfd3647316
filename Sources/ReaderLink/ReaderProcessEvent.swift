public import Journal

/// What a reader is doing. `Reader.State` on the bus is one of these.
public enum ReaderPhase: Sendable, Hashable {
  /// A process was started and has not said whether its device is there.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.released`.
  case opening
  /// There is no device. The process looks for it.
  /// Can transition to: `.failed`, `.ready`, `.released`.
  case absent(reason: String)
  /// The device or its process cannot be used, and is tried again. If the field was on, it may still be.
  /// Can transition to: `.absent`, `.ready`, `.released`.
  case failed(reason: String)
  /// The device is open: the goal is `off`, or not in force yet.
  /// Can transition to: `.absent`, `.failed`, `.scanning`, `.inSession`, `.released`.
  case ready(name: String, device: String)
  /// The process looks for tags to announce, with its field on.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.inSession`, `.released`.
  case scanning
  /// The process serves the reader session of this number.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.scanning`, `.inSession`, `.released`.
  case inSession(UInt64)
  /// The device is closed for another program. That stays so over the end of a process.
  /// Can transition to: `.absent`, `.failed`, `.ready`.
  case released

  /// Whether the process has its device open.
  public var isOpen: Bool {
    switch self {
    case .ready, .scanning, .inSession: true
    case .opening, .absent, .failed, .released: false
    }
  }

  init(_ state: ReaderState) {
    switch state {
    case .absent(let reason): self = .absent(reason: reason)
    case .failed(let reason): self = .failed(reason: reason)
    case .ready(let name, let device): self = .ready(name: name, device: device)
    }
  }
}

/// What the daemon learns of a reader, whatever its process goes through.
public enum ReaderProcessEvent: Sendable, Hashable {
  /// What the reader does now, and the epoch of the goal that is in force; nil if none is. With a goal that uses no
  /// field the field is off then, unless the device has failed.
  case phase(ReaderPhase, reached: UInt64?)
  /// What a tag holds, once a placement. It was found for the goal of this epoch.
  case tag(TagReport, epoch: UInt64)
  /// The tag of this placement is away.
  case removed(placement: UInt64)
  /// Another list of known tags, to be handed to the next `ReaderProcess` for this device.
  case known(KnownTags)
  /// The process ended though it was not stopped.
  case crashed(ReaderCrash)
  /// A line for the log.
  case log(LogLevel, String)
  /// The reader session of that number has found a tag.
  case sessionTag(UInt64, SessionTag)
  /// The tag of that placement is away. When a session ends, those that are still there are not named.
  case sessionTagRemoved(UInt64, placement: UInt64)
  /// What the operation of that request has come to; once for each request.
  case performed(request: UInt64, ReaderOperationResult)
  /// Bytes that the operation of that request has moved so far.
  case progress(request: UInt64, bytes: UInt32)
}

/// A reader process that ended though it was not stopped.
public struct ReaderCrash: Sendable, Hashable {
  /// Why it ended, for example "killed by signal 11 (Segmentation fault)".
  public let reason: String
  /// The tag that was being read at that moment. It is not read again until it has been away.
  public let suspect: Placement?
  /// How long until the process is started again.
  public let restart: Duration

  /// - Parameters:
  ///   - reason: why it ended.
  ///   - suspect: the tag that was being read at that moment.
  ///   - restart: how long until the process is started again.
  public init(reason: String, suspect: Placement?, restart: Duration) {
    self.reason = reason
    self.suspect = suspect
    self.restart = restart
  }
}
