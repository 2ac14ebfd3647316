public import Foundation

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
