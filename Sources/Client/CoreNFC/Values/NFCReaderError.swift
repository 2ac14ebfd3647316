import Bus
public import Foundation
import Names
import TagrouteClient

// Apple's names begin with capitals.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of ``NFCReaderError``, as in `(error as NSError).domain` (iOS 11).
public let NFCErrorDomain: String = "NFCError"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A key of the user info: the error code with which a tag has answered (ISO/IEC 15693-3, 7.4.2), an `NSNumber`
/// (iOS 11).
public let NFCISO15693TagResponseErrorKey: String = "ISO15693TagResponseErrorCode"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A key of the user info: the length of an answer that is too short or too long, an `NSNumber` (iOS 13).
public let NFCTagResponseUnexpectedLengthErrorKey: String = "NFCTagResponseUnexpectedLength"

// `_BridgedStoredNSError` demands these names.
// swift-format-ignore: NoLeadingUnderscores
/// Why a session has ended, or why a call to a tag has failed (iOS 11).
///
///     do {
///       try await session.connect(to: tag)
///     } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
///       session.alertMessage = "Hold the tag on the reader."
///     }
///
/// Two errors are equal if their codes and their user infos are equal.
///
/// Every error of this module in the domain ``NFCErrorDomain`` is an `NFCReaderError`. An `NSError` that a program
/// makes itself is not: unlike on iOS, a cast does not convert it. `NFCReaderError(_nsError:)` does.
public struct NFCReaderError: _BridgedStoredNSError {
  /// The same error as an object.
  public let _nsError: NSError

  /// Makes an error from an object.
  ///
  /// - Parameter error: the object. Its domain has to be ``NFCErrorDomain``. If its user info has no
  ///   `NSLocalizedDescriptionKey`, the text of the code is added.
  public init(_nsError error: NSError) {
    precondition(error.domain == NFCErrorDomain, "the domain of the error is \(error.domain), not \(NFCErrorDomain)")
    if error.userInfo[NSLocalizedDescriptionKey] == nil, let code = Code(rawValue: error.code) {
      // The user info is the only place for the text that `any Error` and `NSError` read, too.
      let userInfo = error.userInfo.merging([NSLocalizedDescriptionKey: code.text]) { own, _ in own }
      _nsError = NSError(domain: NFCErrorDomain, code: error.code, userInfo: userInfo)
    } else {
      _nsError = error
    }
  }

  /// ``NFCErrorDomain``.
  public static var _nsErrorDomain: String { NFCErrorDomain }

  /// The kind of the error. A number that this version does not know is
  /// ``Code-swift.enum/readerErrorUnsupportedFeature``; `errorCode` has the number.
  public var code: Code { Code(rawValue: _nsError.code) ?? .readerErrorUnsupportedFeature }

  /// Whether code and user info are equal.
  public static func == (a: NFCReaderError, b: NFCReaderError) -> Bool { a._nsError.isEqual(b._nsError) }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

  /// What happened and what to do, in English.
  public var localizedDescription: String { _nsError.localizedDescription }

  /// Domain, number and text, as an `NSError` of iOS is printed.
  public var description: String { "Error Domain=\(NFCErrorDomain) Code=\(errorCode) \"\(localizedDescription)\"" }

  /// The kinds of errors. The raw value is the code of the `NSError`.
  public enum Code: Int, _ErrorCodeProtocol, Sendable {
    /// The error type to which the code belongs.
    public typealias _ErrorType = NFCReaderError

    // MARK: Any call

    /// The reader or the tag does not support the feature, or there is no reader (iOS 11).
    case readerErrorUnsupportedFeature = 1
    /// The user or the program may not do this, or the program did not declare it (iOS 11).
    case readerErrorSecurityViolation = 2
    /// A parameter is invalid (iOS 13).
    case readerErrorInvalidParameter = 3
    /// A parameter has a wrong length (iOS 13).
    case readerErrorInvalidParameterLength = 4
    /// A parameter is out of range (iOS 13).
    case readerErrorParameterOutOfBound = 5
    /// The radio is switched off (iOS 14). Never on this system.
    case readerErrorRadioDisabled = 6
    /// The program, the user or the device is not eligible for the feature (iOS 26). Never on this system.
    case readerErrorIneligible = 7
    /// The user did not accept the access (iOS 26). Never on this system.
    case readerErrorAccessNotAccepted = 8

    // MARK: A call to a tag

    /// The tag has left the reader (iOS 11).
    case readerTransceiveErrorTagConnectionLost = 100
    /// Too many attempts failed, or too many calls are waiting (iOS 11).
    case readerTransceiveErrorRetryExceeded = 101
    /// The tag refused, did not answer, or its answer has a wrong form (iOS 11).
    case readerTransceiveErrorTagResponseError = 102
    /// The session is over (iOS 13).
    case readerTransceiveErrorSessionInvalidated = 103
    /// The session is not connected to the tag (iOS 13).
    case readerTransceiveErrorTagNotConnected = 104
    /// The command is too long (iOS 14).
    case readerTransceiveErrorPacketTooLong = 105

    // MARK: The end of a session

    /// The user or the program has ended the session (iOS 11).
    case readerSessionInvalidationErrorUserCanceled = 200
    /// The time of the session is over (iOS 11).
    case readerSessionInvalidationErrorSessionTimeout = 201
    /// The system has ended the session (iOS 11).
    case readerSessionInvalidationErrorSessionTerminatedUnexpectedly = 202
    /// Too many sessions are waiting for the reader (iOS 11).
    case readerSessionInvalidationErrorSystemIsBusy = 203
    /// The session has read its first message and was made to end then (iOS 11).
    case readerSessionInvalidationErrorFirstNDEFTagRead = 204

    // MARK: A command's configuration

    /// A parameter of the configuration is invalid (iOS 11).
    case tagCommandConfigurationErrorInvalidParameters = 300

    // MARK: NDEF

    /// The tag is read-only (iOS 13).
    case ndefReaderSessionErrorTagNotWritable = 400
    /// The tag could not be written or locked (iOS 13).
    case ndefReaderSessionErrorTagUpdateFailure = 401
    /// The message is too long for the tag (iOS 13).
    case ndefReaderSessionErrorTagSizeTooSmall = 402
    /// The tag is formatted and holds no message (iOS 13).
    case ndefReaderSessionErrorZeroLengthMessage = 403
  }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The codes as members of the error, for `catch NFCReaderError.readerErrorSecurityViolation`.
extension NFCReaderError {
  public static var readerErrorUnsupportedFeature: Code { .readerErrorUnsupportedFeature }
  public static var readerErrorSecurityViolation: Code { .readerErrorSecurityViolation }
  public static var readerErrorInvalidParameter: Code { .readerErrorInvalidParameter }
  public static var readerErrorInvalidParameterLength: Code { .readerErrorInvalidParameterLength }
  public static var readerErrorParameterOutOfBound: Code { .readerErrorParameterOutOfBound }
  public static var readerErrorRadioDisabled: Code { .readerErrorRadioDisabled }
  public static var readerErrorIneligible: Code { .readerErrorIneligible }
  public static var readerErrorAccessNotAccepted: Code { .readerErrorAccessNotAccepted }

  public static var readerTransceiveErrorTagConnectionLost: Code { .readerTransceiveErrorTagConnectionLost }
  public static var readerTransceiveErrorRetryExceeded: Code { .readerTransceiveErrorRetryExceeded }
  public static var readerTransceiveErrorTagResponseError: Code { .readerTransceiveErrorTagResponseError }
  public static var readerTransceiveErrorSessionInvalidated: Code { .readerTransceiveErrorSessionInvalidated }
  public static var readerTransceiveErrorTagNotConnected: Code { .readerTransceiveErrorTagNotConnected }
  public static var readerTransceiveErrorPacketTooLong: Code { .readerTransceiveErrorPacketTooLong }

  public static var readerSessionInvalidationErrorUserCanceled: Code { .readerSessionInvalidationErrorUserCanceled }
  public static var readerSessionInvalidationErrorSessionTimeout: Code {
    .readerSessionInvalidationErrorSessionTimeout
  }
  public static var readerSessionInvalidationErrorSessionTerminatedUnexpectedly: Code {
    .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
  }
  public static var readerSessionInvalidationErrorSystemIsBusy: Code { .readerSessionInvalidationErrorSystemIsBusy }
  public static var readerSessionInvalidationErrorFirstNDEFTagRead: Code {
    .readerSessionInvalidationErrorFirstNDEFTagRead
  }

  public static var tagCommandConfigurationErrorInvalidParameters: Code {
    .tagCommandConfigurationErrorInvalidParameters
  }

  public static var ndefReaderSessionErrorTagNotWritable: Code { .ndefReaderSessionErrorTagNotWritable }
  public static var ndefReaderSessionErrorTagUpdateFailure: Code { .ndefReaderSessionErrorTagUpdateFailure }
  public static var ndefReaderSessionErrorTagSizeTooSmall: Code { .ndefReaderSessionErrorTagSizeTooSmall }
  public static var ndefReaderSessionErrorZeroLengthMessage: Code { .ndefReaderSessionErrorZeroLengthMessage }
}

extension NFCReaderError.Code {
  /// What happened and what to do.
  var text: String {
    switch self {
    case .readerErrorUnsupportedFeature:
      "The reader or the tag does not support this, or no reader is available. Plug in a reader, or run "
        + "`tagroute doctor`."
    case .readerErrorSecurityViolation:
      "This is not allowed. Check that you may use the reader, and that the program declares the applications and "
        + "systems of its cards."
    case .readerErrorInvalidParameter: "A parameter is invalid. Check the parameters of the call."
    case .readerErrorInvalidParameterLength: "A parameter has the wrong length. Check the parameters of the call."
    case .readerErrorParameterOutOfBound: "A parameter is out of range. Check the parameters of the call."
    case .readerErrorRadioDisabled: "The radio is switched off. Switch off airplane mode and try again."
    case .readerErrorIneligible: "The program or this device may not use the feature. Use another feature."
    case .readerErrorAccessNotAccepted: "The user did not accept the access. Ask the user and try again."

    case .readerTransceiveErrorTagConnectionLost:
      "The tag is no longer on the reader. Hold it on the reader and try again."
    case .readerTransceiveErrorRetryExceeded:
      "Too many attempts failed, or too many calls are waiting. Wait for the answers and try again."
    case .readerTransceiveErrorTagResponseError:
      "The tag refused the command, did not answer in time, or sent an invalid answer. Check the command and try again."
    case .readerTransceiveErrorSessionInvalidated: "The session has ended. Start a new session."
    case .readerTransceiveErrorTagNotConnected: "The tag is not connected. Connect to it with connect(to:) first."
    case .readerTransceiveErrorPacketTooLong: "The command is too long for the tag or the reader. Send less data."

    case .readerSessionInvalidationErrorUserCanceled:
      "The user or the program ended the session. Start a new session to read again."
    case .readerSessionInvalidationErrorSessionTimeout:
      "The session reached its time limit. Start a new session to read again."
    case .readerSessionInvalidationErrorSessionTerminatedUnexpectedly:
      "The system ended the session. Check with `tagroute status` that the reader works, then start a new session."
    case .readerSessionInvalidationErrorSystemIsBusy:
      "Too many sessions are waiting for the reader. Try again when they have ended."
    case .readerSessionInvalidationErrorFirstNDEFTagRead:
      "The session read its first tag and ended. Start a new session to read again."

    case .tagCommandConfigurationErrorInvalidParameters:
      "The configuration of the command is invalid. Check its parameters."

    case .ndefReaderSessionErrorTagNotWritable: "The tag is read-only. Use another tag."
    case .ndefReaderSessionErrorTagUpdateFailure:
      "The tag could not be changed, and its message may be lost. Hold it on the reader and write again."
    case .ndefReaderSessionErrorTagSizeTooSmall:
      "The message is too long for the tag. Use a shorter message or a larger tag."
    case .ndefReaderSessionErrorZeroLengthMessage: "The tag holds no message. Write one first, or use another tag."
    }
  }
}

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
