package import Journal
package import ReaderProtocol

/// The phase of a reader. `Reader.State` on the bus is one of these.
package enum ReaderPhase: Sendable, Hashable {
  /// A process was started and has not reported yet whether its device is present.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.released`.
  case opening
  /// There is no device. The process looks for it.
  /// Can transition to: `.opening` (not reported), `.failed`, `.ready`, `.released`.
  case absent(reason: String)
  /// The device or its process cannot be used, and is retried. If the field was on, it may still be on.
  /// Can transition to: `.opening` (not reported), `.absent`, `.ready`, `.released`.
  case failed(reason: String)
  /// The device is open. The goal is `off`, or is not in force yet.
  /// Can transition to: `.absent`, `.failed`, `.scanning`, `.inSession`, `.released`.
  case ready(name: String, device: String)
  /// The process polls for tags to announce.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.inSession`, `.released`.
  case scanning
  /// The process serves the reader session of this number.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.scanning`, `.inSession`, `.released`.
  case inSession(UInt64)
  /// The device is closed for another program. It stays closed if a process ends.
  /// Can transition to: `.absent`, `.failed`, `.ready`.
  case released

  /// Whether the process has its device open.
  package var isOpen: Bool {
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

/// An event of a reader. The end of a process does not end the events.
package enum ReaderProcessEvent: Sendable, Hashable {
  /// The phase of the reader, and the epoch of the goal in force; nil if none is. If that goal uses no field, the field
  /// is off, unless the device has failed.
  case phase(ReaderPhase, reached: UInt64?)
  /// The reader is open and waits for another program, for this reason; empty if it no longer waits. A phase in which the
  /// device is not open ends the wait without another event.
  case waiting(reason: String)
  /// The contents of a tag, once per placement. It was found for the goal of this epoch.
  case tag(TagReport, epoch: UInt64)
  /// The tag of this placement was removed.
  case removed(placement: UInt64)
  /// The list of known tags has changed. Hand it to the next `ReaderProcess` for this device.
  case known(KnownTags)
  /// The process ended without being stopped.
  case crashed(ReaderCrash)
  /// A line for the log.
  case log(LogLevel, String)
  /// The reader session of this number found a tag.
  case sessionTag(UInt64, SessionTag)
  /// The tag of this placement was removed. The end of a session does not report its remaining tags as removed.
  case sessionTagRemoved(UInt64, placement: UInt64)
  /// The session of this number has reported all tags that lie there together.
  case sessionRoundEnded(UInt64)
  /// The session of this number has restarted polling, and reported all earlier tags as removed. Several calls of
  /// `ReaderProcess.restartPolling` may lead to one event.
  case sessionPollingRestarted(UInt64)
  /// The result of the operation of this request, once per request.
  case performed(request: UInt64, ReaderOperationResult)
  /// The bytes that the operation of this request has transferred so far.
  case progress(request: UInt64, bytes: UInt32)
}

/// The end of a reader process that was not stopped.
package struct ReaderCrash: Sendable, Hashable {
  /// Why it ended, for example "killed by signal 11 (Segmentation fault)".
  package let reason: String
  /// The tag that the process was reading or running an operation on. It is not read again until it has been removed.
  package let suspect: Placement?
  /// The pause until the process is restarted.
  package let restart: Duration

  /// A crash with these properties.
  package init(reason: String, suspect: Placement?, restart: Duration) {
    self.reason = reason
    self.suspect = suspect
    self.restart = restart
  }
}
