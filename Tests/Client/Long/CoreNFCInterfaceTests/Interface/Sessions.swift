import CoreNFC

// Uses every member of the sessions with its type. The file only has to compile, and does not run.

func useAnySession(_ session: any NFCReaderSessionProtocol) {
  let _: any NSObjectProtocol = session
  let _: Bool = session.isReady
  let _: String = session.alertMessage
  session.alertMessage = "Hold a tag near the reader."
  session.begin()
  session.invalidate()
  session.invalidate(errorMessage: "The tag cannot be read.")
}

func useReaderSession(_ session: NFCReaderSession) {
  let _: NSObject = session
  let _: any NFCReaderSessionProtocol = session
  let _: Bool = NFCReaderSession.readingAvailable
  let _: AnyObject? = session.delegate
  let _: KeyPath<NFCReaderSession, DispatchQueue> = \.sessionQueue
  let _: KeyPath<NFCReaderSession, Bool> = \.isReady
  let _: ReferenceWritableKeyPath<NFCReaderSession, String> = \.alertMessage
  session.begin()
  session.invalidate()
  session.invalidate(errorMessage: "The tag cannot be read.")
}

func useMessageSession(_ delegate: any NFCNDEFReaderSessionDelegate, _ tag: any NFCNDEFTag) async throws {
  let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
  let _: NFCReaderSession = session
  let _: Bool = NFCNDEFReaderSession.readingAvailable
  _ = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
  _ = NFCNDEFReaderSession(delegate: delegate, queue: DispatchQueue(label: "tags"), invalidateAfterFirstRead: false)
  session.restartPolling()
  session.connect(to: tag) { (error: (any Error)?) in }
  session.connect(to: tag, completionHandler: { error in _ = error?.localizedDescription })
  try await session.connect(to: tag)
}

func useTagSession(_ delegate: any NFCTagReaderSessionDelegate, _ tag: NFCTag) async throws {
  let configuration = NFCTagReaderSession.Configuration(pollingOption: [.iso14443, .iso18092])
  let session = NFCTagReaderSession(configuration: configuration, delegate: delegate)
  let _: NFCReaderSession = session
  let _: Bool = NFCTagReaderSession.readingAvailable
  _ = NFCTagReaderSession(configuration: configuration, delegate: delegate, queue: nil)
  _ = NFCTagReaderSession(configuration: configuration, delegate: delegate, queue: .main)
  let _: NFCTag? = session.connectedTag
  session.restartPolling()
  session.restartPolling(configuration: configuration)
  session.connect(to: tag) { (error: (any Error)?) in }
  try await session.connect(to: tag)
}

func useConfiguration() {
  var configuration = NFCTagReaderSession.Configuration(
    pollingOption: .iso14443, iso7816SelectIdentifiers: ["A0000002471001"], feliCaSystemCodes: ["0003"])
  configuration.pollingOption = [.iso15693, .pace]
  configuration.iso7816SelectIdentifiers = ["D2760000850101"]
  configuration.feliCaSystemCodes = ["12FC"]
  let _: WritableKeyPath<NFCTagReaderSession.Configuration, NFCTagReaderSession.PollingOption> = \.pollingOption
  let _: WritableKeyPath<NFCTagReaderSession.Configuration, [String]> = \.iso7816SelectIdentifiers
  let _: WritableKeyPath<NFCTagReaderSession.Configuration, [String]> = \.feliCaSystemCodes
}

func usePassSession(_ delegate: any NFCVASReaderSessionDelegate, _ pass: NFCVASCommandConfiguration) {
  let session = NFCVASReaderSession(vasCommandConfigurations: [pass], delegate: delegate, queue: nil)
  let _: NFCReaderSession = session
  let _: Bool = NFCVASReaderSession.readingAvailable
}

func usePaymentSession(_ delegate: any NFCTagReaderSessionDelegate) {
  let session = NFCPaymentTagReaderSession(delegate: delegate, queue: nil)
  let _: NFCTagReaderSession = session
  let _: Bool = NFCPaymentTagReaderSession.readingAvailable
}

/// The older error handling of samples: codes by pattern, by value and by cast.
func useErrors(_ error: any Error) {
  if let readerError = error as? NFCReaderError, readerError.code != .readerSessionInvalidationErrorUserCanceled {
    let _: NFCReaderError.Code = readerError.code
    let _: String = readerError.localizedDescription
    let _: Int = readerError.errorCode
    let _: [String: Any] = readerError.errorUserInfo
    let _: [String: Any] = readerError.userInfo
  }
  do {
    throw error
  } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
    return
  } catch let failure as NFCReaderError where failure.code == .readerTransceiveErrorTagNotConnected {
    let _: NFCReaderError = failure
  } catch {
    let _: (String, Int) = ((error as NSError).domain, (error as NSError).code)
  }
  switch error {
  case NFCReaderError.readerSessionInvalidationErrorSessionTimeout: break
  default: break
  }
}
