import CoreNFC

// Programs make sessions and tags Sendable on their own, and take them along to tasks.

extension NFCTagReaderSession: @retroactive @unchecked Sendable {}
extension NFCTag: @retroactive @unchecked Sendable {}

final class AwaitingDelegate: NSObject, NFCTagReaderSessionDelegate {
  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard let tag = tags.first else { return }
    Task {
      do {
        try await session.connect(to: tag)
        session.invalidate()
      } catch {
        session.invalidate(errorMessage: error.localizedDescription)
      }
    }
  }
}
