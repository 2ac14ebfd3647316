/// The codes as members of the error, for `catch NFCReaderError.readerErrorSecurityViolation`.
extension NFCReaderError {
  /// See ``Code-swift.enum/readerErrorUnsupportedFeature``.
  public static var readerErrorUnsupportedFeature: Code { .readerErrorUnsupportedFeature }
  /// See ``Code-swift.enum/readerErrorSecurityViolation``.
  public static var readerErrorSecurityViolation: Code { .readerErrorSecurityViolation }
  /// See ``Code-swift.enum/readerErrorInvalidParameter``.
  public static var readerErrorInvalidParameter: Code { .readerErrorInvalidParameter }
  /// See ``Code-swift.enum/readerErrorInvalidParameterLength``.
  public static var readerErrorInvalidParameterLength: Code { .readerErrorInvalidParameterLength }
  /// See ``Code-swift.enum/readerErrorParameterOutOfBound``.
  public static var readerErrorParameterOutOfBound: Code { .readerErrorParameterOutOfBound }
  /// See ``Code-swift.enum/readerErrorRadioDisabled``.
  public static var readerErrorRadioDisabled: Code { .readerErrorRadioDisabled }
  /// See ``Code-swift.enum/readerErrorIneligible``.
  public static var readerErrorIneligible: Code { .readerErrorIneligible }
  /// See ``Code-swift.enum/readerErrorAccessNotAccepted``.
  public static var readerErrorAccessNotAccepted: Code { .readerErrorAccessNotAccepted }

  /// See ``Code-swift.enum/readerTransceiveErrorTagConnectionLost``.
  public static var readerTransceiveErrorTagConnectionLost: Code { .readerTransceiveErrorTagConnectionLost }
  /// See ``Code-swift.enum/readerTransceiveErrorRetryExceeded``.
  public static var readerTransceiveErrorRetryExceeded: Code { .readerTransceiveErrorRetryExceeded }
  /// See ``Code-swift.enum/readerTransceiveErrorTagResponseError``.
  public static var readerTransceiveErrorTagResponseError: Code { .readerTransceiveErrorTagResponseError }
  /// See ``Code-swift.enum/readerTransceiveErrorSessionInvalidated``.
  public static var readerTransceiveErrorSessionInvalidated: Code { .readerTransceiveErrorSessionInvalidated }
  /// See ``Code-swift.enum/readerTransceiveErrorTagNotConnected``.
  public static var readerTransceiveErrorTagNotConnected: Code { .readerTransceiveErrorTagNotConnected }
  /// See ``Code-swift.enum/readerTransceiveErrorPacketTooLong``.
  public static var readerTransceiveErrorPacketTooLong: Code { .readerTransceiveErrorPacketTooLong }

  /// See ``Code-swift.enum/readerSessionInvalidationErrorUserCanceled``.
  public static var readerSessionInvalidationErrorUserCanceled: Code { .readerSessionInvalidationErrorUserCanceled }
  /// See ``Code-swift.enum/readerSessionInvalidationErrorSessionTimeout``.
  public static var readerSessionInvalidationErrorSessionTimeout: Code {
    .readerSessionInvalidationErrorSessionTimeout
  }
  /// See ``Code-swift.enum/readerSessionInvalidationErrorSessionTerminatedUnexpectedly``.
  public static var readerSessionInvalidationErrorSessionTerminatedUnexpectedly: Code {
    .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
  }
  /// See ``Code-swift.enum/readerSessionInvalidationErrorSystemIsBusy``.
  public static var readerSessionInvalidationErrorSystemIsBusy: Code { .readerSessionInvalidationErrorSystemIsBusy }
  /// See ``Code-swift.enum/readerSessionInvalidationErrorFirstNDEFTagRead``.
  public static var readerSessionInvalidationErrorFirstNDEFTagRead: Code {
    .readerSessionInvalidationErrorFirstNDEFTagRead
  }

  /// See ``Code-swift.enum/tagCommandConfigurationErrorInvalidParameters``.
  public static var tagCommandConfigurationErrorInvalidParameters: Code {
    .tagCommandConfigurationErrorInvalidParameters
  }

  /// See ``Code-swift.enum/ndefReaderSessionErrorTagNotWritable``.
  public static var ndefReaderSessionErrorTagNotWritable: Code { .ndefReaderSessionErrorTagNotWritable }
  /// See ``Code-swift.enum/ndefReaderSessionErrorTagUpdateFailure``.
  public static var ndefReaderSessionErrorTagUpdateFailure: Code { .ndefReaderSessionErrorTagUpdateFailure }
  /// See ``Code-swift.enum/ndefReaderSessionErrorTagSizeTooSmall``.
  public static var ndefReaderSessionErrorTagSizeTooSmall: Code { .ndefReaderSessionErrorTagSizeTooSmall }
  /// See ``Code-swift.enum/ndefReaderSessionErrorZeroLengthMessage``.
  public static var ndefReaderSessionErrorZeroLengthMessage: Code { .ndefReaderSessionErrorZeroLengthMessage }
}
