import Bus
import Names
import TagrouteClient

extension NFCReaderError {
  /// What the program asked for. The same answer of the daemon can mean different codes.
  enum Operation: Sendable { case start, command, read, write }

  /// The error for an answer of the daemon.
  init(_ error: BusError, in operation: Operation) {
    self.init(operation == .start ? Code(starting: error) : Code(error, operation))
  }
}

extension NFCReaderError.Code {
  /// Why a session did not start.
  fileprivate init(starting error: BusError) {
    switch TagFailure(error) {
    case .notAuthorized: self = .readerErrorSecurityViolation
    // The declared applications are too many, or one is a payment application.
    case nil where error.name == Names.Errors.invalidArgument: self = .readerErrorSecurityViolation
    case .busy: self = .readerSessionInvalidationErrorSystemIsBusy
    // No daemon, no reader, or none that reads such tags.
    default: self = .readerErrorUnsupportedFeature
    }
  }

  /// Why a call to a tag failed.
  fileprivate init(_ error: BusError, _ operation: NFCReaderError.Operation) {
    switch TagFailure(error) {
    case .tagLost, .readerLost: self = .readerTransceiveErrorTagConnectionLost
    case .noMessage: self = .ndefReaderSessionErrorZeroLengthMessage
    case .readOnly: self = .ndefReaderSessionErrorTagNotWritable
    case .tooLong:
      self = operation == .command ? .readerTransceiveErrorPacketTooLong : .ndefReaderSessionErrorTagSizeTooSmall
    case .notSupported, .notFormatted: self = .readerErrorUnsupportedFeature
    case .refused where operation == .write: self = .ndefReaderSessionErrorTagUpdateFailure
    case .refused, .timedOut: self = .readerTransceiveErrorTagResponseError
    case .busy: self = .readerTransceiveErrorRetryExceeded
    case .notAsWritten, .cannotLock: self = .ndefReaderSessionErrorTagUpdateFailure
    case .sessionEnded: self = .readerTransceiveErrorSessionInvalidated
    case .notAuthorized: self = .readerErrorSecurityViolation
    case nil where error.name == Names.Errors.invalidArgument: self = .readerErrorInvalidParameter
    // The bus or the daemon has gone, and so has the session.
    case nil: self = .readerTransceiveErrorSessionInvalidated
    }
  }

  /// Why a session is over. `ownEnd` is the code if the session itself has requested its end.
  init(_ reason: ReaderSessionEnd.Reason, ownEnd: Self) {
    switch reason {
    case .invalidated: self = ownEnd
    case .cancelled: self = .readerSessionInvalidationErrorUserCanceled
    case .timedOut: self = .readerSessionInvalidationErrorSessionTimeout
    case .firstRead: self = .readerSessionInvalidationErrorFirstNDEFTagRead
    case .readerLost, .sessionInactive, .sleeping, .daemonStopping, .daemonGone:
      self = .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    }
  }
}
