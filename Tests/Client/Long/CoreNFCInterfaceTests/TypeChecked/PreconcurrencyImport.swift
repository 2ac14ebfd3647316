@preconcurrency import CoreNFC

// Handlers that take sessions and tags along, as nearly every program with completion handlers does.

final class CapturingDelegate: NSObject, NFCTagReaderSessionDelegate {
  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard let tag = tags.first, case .miFare(let ultralight) = tag else { return }
    session.connect(to: tag) { error in
      guard error == nil else { return session.restartPolling() }
      ultralight.sendMiFareCommand(commandPacket: Data([0x30, 0x04])) { pages, error in
        session.alertMessage = error?.localizedDescription ?? "\(pages.count) bytes"
        session.invalidate()
      }
    }
  }
}
