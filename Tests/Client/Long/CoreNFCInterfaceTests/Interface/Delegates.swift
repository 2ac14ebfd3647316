import CoreNFC

// A delegate with the required methods of each protocol alone, and one with all methods.

final class MessageDelegate: NSObject, NFCNDEFReaderSessionDelegate {
  private(set) var records: [NFCNDEFPayload] = []
  private(set) var error: (any Error)?

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { self.error = error }
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    records += messages.flatMap(\.records)
  }
}

final class NDEFTagDelegate: NSObject, NFCNDEFReaderSessionDelegate {
  private(set) var tags: [any NFCNDEFTag] = []
  private(set) var isActive = false

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { isActive = false }
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) { self.tags += tags }
  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { isActive = true }
}

/// Conforms in an extension, as many apps do.
class TagDelegate: NSObject {
  var tags: [NFCTag] = []
  var isActive = false
}

extension TagDelegate: NFCTagReaderSessionDelegate {
  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { isActive = true }
  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) { isActive = false }
  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { self.tags += tags }
}

/// One object for two kinds of sessions.
final class EveryDelegate: TagDelegate, NFCNDEFReaderSessionDelegate {
  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
}

final class PassDelegate: NSObject, NFCVASReaderSessionDelegate {
  private(set) var statuses: [NFCVASResponse.ErrorCode] = []

  func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) {}
  func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse]) {
    statuses += responses.map(\.status)
  }
}

final class FullPassDelegate: NSObject, NFCVASReaderSessionDelegate {
  private(set) var isActive = false

  func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) { isActive = false }
  func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse]) {}
  func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) { isActive = true }
}
