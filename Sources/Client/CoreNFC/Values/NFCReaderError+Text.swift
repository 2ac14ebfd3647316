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
