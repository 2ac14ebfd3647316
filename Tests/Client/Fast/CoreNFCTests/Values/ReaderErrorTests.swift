import CoreNFC
import Foundation
import Testing

@Suite struct ReaderErrorTests {
  static let codes: [(number: Int, member: NFCReaderError.Code)] = [
    (1, NFCReaderError.readerErrorUnsupportedFeature), (2, NFCReaderError.readerErrorSecurityViolation),
    (3, NFCReaderError.readerErrorInvalidParameter), (4, NFCReaderError.readerErrorInvalidParameterLength),
    (5, NFCReaderError.readerErrorParameterOutOfBound), (6, NFCReaderError.readerErrorRadioDisabled),
    (7, NFCReaderError.readerErrorIneligible), (8, NFCReaderError.readerErrorAccessNotAccepted),
    (100, NFCReaderError.readerTransceiveErrorTagConnectionLost),
    (101, NFCReaderError.readerTransceiveErrorRetryExceeded),
    (102, NFCReaderError.readerTransceiveErrorTagResponseError),
    (103, NFCReaderError.readerTransceiveErrorSessionInvalidated),
    (104, NFCReaderError.readerTransceiveErrorTagNotConnected),
    (105, NFCReaderError.readerTransceiveErrorPacketTooLong),
    (200, NFCReaderError.readerSessionInvalidationErrorUserCanceled),
    (201, NFCReaderError.readerSessionInvalidationErrorSessionTimeout),
    (202, NFCReaderError.readerSessionInvalidationErrorSessionTerminatedUnexpectedly),
    (203, NFCReaderError.readerSessionInvalidationErrorSystemIsBusy),
    (204, NFCReaderError.readerSessionInvalidationErrorFirstNDEFTagRead),
    (300, NFCReaderError.tagCommandConfigurationErrorInvalidParameters),
    (400, NFCReaderError.ndefReaderSessionErrorTagNotWritable),
    (401, NFCReaderError.ndefReaderSessionErrorTagUpdateFailure),
    (402, NFCReaderError.ndefReaderSessionErrorTagSizeTooSmall),
    (403, NFCReaderError.ndefReaderSessionErrorZeroLengthMessage),
  ]

  @Test func `every code has its number and its member, and there are no others`() {
    #expect(Self.codes.map(\.member.rawValue) == Self.codes.map(\.number))
    #expect((-1...1000).compactMap(NFCReaderError.Code.init(rawValue:)) == Self.codes.map(\.member))
  }

  /// Sources of iOS treat an error in each of these ways.
  @Test(arguments: ReaderErrorTests.codes.map(\.number))
  func `an error that is thrown is the struct, and an object with domain, code and text`(number: Int) throws {
    let code = try #require(NFCReaderError.Code(rawValue: number))
    let error: any Error = NFCReaderError(code)
    let own = try #require(error as? NFCReaderError)
    #expect(own.code == code)
    #expect(own.errorCode == number)
    #expect(NFCReaderError.errorDomain == "NFCError")
    let object = error as NSError
    #expect(object.domain == NFCErrorDomain)
    #expect(object.code == number)
    #expect(!own.localizedDescription.isEmpty)
    #expect(error.localizedDescription == own.localizedDescription)
    #expect(object.localizedDescription == own.localizedDescription)
    #expect(own.userInfo[NSLocalizedDescriptionKey] as? String == own.localizedDescription)
    #expect(own.description == "Error Domain=NFCError Code=\(number) \"\(own.localizedDescription)\"")
  }

  @Test func `every code has a text of its own`() {
    let texts = Self.codes.map { NFCReaderError($0.member).localizedDescription }
    #expect(Set(texts).count == texts.count)
    #expect(texts.allSatisfy { $0.hasSuffix(".") })
  }

  private func fail(_ code: NFCReaderError.Code) throws { throw NFCReaderError(code) }

  @Test func `an error is caught by its code`() {
    do {
      try fail(.readerSessionInvalidationErrorUserCanceled)
      Issue.record("nothing was thrown")
    } catch NFCReaderError.readerSessionInvalidationErrorSessionTimeout {
      Issue.record("caught as another code")
    } catch NFCReaderError.readerSessionInvalidationErrorUserCanceled {
      // As expected.
    } catch {
      Issue.record("not caught by its code: \(error)")
    }
    do {
      try fail(.readerTransceiveErrorTagConnectionLost)
    } catch let error as NFCReaderError where error.code == .readerTransceiveErrorTagConnectionLost {
      #expect(error.code.rawValue == 100)
    } catch {
      Issue.record("not caught as the struct: \(error)")
    }
    #expect(throws: NFCReaderError(.readerErrorRadioDisabled)) { try fail(.readerErrorRadioDisabled) }
  }

  @Test func `an error of another domain does not match`() {
    let errors: [any Error] = [
      CancellationError(), CocoaError(.coderInvalidValue), NSError(domain: "other", code: 200),
    ]
    for error in errors {
      #expect(!(NFCReaderError.readerSessionInvalidationErrorUserCanceled ~= error))
      #expect(!(error is NFCReaderError))
    }
  }

  @Test func `the user info is kept, and a text in it replaces that of the code`() {
    let error = NFCReaderError(
      .readerTransceiveErrorTagResponseError,
      userInfo: [NFCISO15693TagResponseErrorKey: 15, NSLocalizedDescriptionKey: "The block is locked."])
    #expect(error.userInfo[NFCISO15693TagResponseErrorKey] as? Int == 15)
    #expect(error.localizedDescription == "The block is locked.")
    #expect(error != NFCReaderError(.readerTransceiveErrorTagResponseError))
    #expect(
      NFCReaderError(.readerTransceiveErrorTagResponseError)
        == NFCReaderError(.readerTransceiveErrorTagResponseError))
    #expect(
      NFCReaderError(.readerTransceiveErrorTagResponseError) != NFCReaderError(.readerErrorInvalidParameter))
    #expect(NFCISO15693TagResponseErrorKey != NFCTagResponseUnexpectedLengthErrorKey)
    #expect(Set([NFCReaderError(.readerErrorRadioDisabled), NFCReaderError(.readerErrorRadioDisabled)]).count == 1)
  }

  @Test func `an object of the domain becomes the struct with the text of its code`() {
    let object = NSError(domain: NFCErrorDomain, code: 403)
    let error = NFCReaderError(_nsError: object)
    #expect(error == NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage))
    #expect(NFCReaderError(_bridgedNSError: object)?.code == .ndefReaderSessionErrorZeroLengthMessage)
    #expect(NFCReaderError(_bridgedNSError: NSError(domain: "other", code: 403)) == nil)
  }

  @Test func `an unknown number is an unsupported feature, and keeps its number`() {
    let error = NFCReaderError(_nsError: NSError(domain: NFCErrorDomain, code: 999))
    #expect(error.code == .readerErrorUnsupportedFeature)
    #expect(error.errorCode == 999)
    #expect(!error.localizedDescription.isEmpty)
  }
}
