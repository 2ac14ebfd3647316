import CoreNFC

/// Prints the last twelve journeys from a transit card: Suica, PASMO, ICOCA and others.
final class TransitCardReader: NSObject, NFCTagReaderSessionDelegate {
  /// The service of the history, low byte first. Reading it needs no key.
  private let historyService = Data([0x0F, 0x09])
  private var isRead = false
  private var problem: String?

  func scan() {
    // From `begin()` on, the session keeps itself alive.
    if let session = NFCTagReaderSession(pollingOption: .iso18092, delegate: self) {
      session.alertMessage = "Hold your transit card near the reader."
      session.begin()
    }
  }

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
    if !isRead { print(problem ?? error.localizedDescription) }
    exit(isRead ? 0 : 1)
  }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard tags.count == 1, let tag = tags.first, case .feliCa(let card) = tag else {
      return stop(session, "Hold one transit card near the reader.")
    }
    session.connect(to: tag) { error in
      if let error = error { return self.stop(session, "The card was removed: \(error.localizedDescription)") }
      self.findHistory(card, session)
    }
  }

  private func findHistory(_ card: NFCFeliCaTag, _ session: NFCTagReaderSession) {
    card.requestService(nodeCodeList: [historyService]) { versions, error in
      // The version FFFF means that there is no such service.
      guard error == nil, let version = versions.first, version != Data([0xFF, 0xFF]) else {
        return self.stop(session, "The card keeps no history.")
      }
      self.readHistory(card, session)
    }
  }

  private func readHistory(_ card: NFCFeliCaTag, _ session: NFCTagReaderSession) {
    let blockList = (0..<12).map { Data([0x80, UInt8($0)]) }
    card.readWithoutEncryption(serviceCodeList: [historyService], blockList: blockList) {
      statusFlag1, statusFlag2, blocks, error in
      guard error == nil, statusFlag1 == 0, statusFlag2 == 0 else {
        return self.stop(session, "The history cannot be read.")
      }
      for block in blocks where block.count == 16 && block[4...5] != Data([0, 0]) { self.show(block) }
      self.isRead = true
      session.invalidate()
    }
  }

  /// Bytes 4 and 5 are the date, 6 and 7 the entry, 8 and 9 the exit, 10 and 11 the balance, low byte first.
  private func show(_ block: Data) {
    let date = Int(block[4]) << 8 | Int(block[5])
    let day = String(format: "%04d-%02d-%02d", 2000 + date >> 9, date >> 5 & 15, date & 31)
    let entry = String(format: "%02X%02X", block[6], block[7])
    let exit = String(format: "%02X%02X", block[8], block[9])
    print("\(day)  \(entry) → \(exit)  ¥\(Int(block[11]) << 8 | Int(block[10]))")
  }

  private func stop(_ session: NFCTagReaderSession, _ problem: String) {
    self.problem = problem
    session.invalidate(errorMessage: problem)
  }
}

let reader = TransitCardReader()
reader.scan()
dispatchMain()
