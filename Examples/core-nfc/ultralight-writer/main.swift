import CoreNFC

/// Writes one page of a MIFARE Ultralight or NTAG, and prints the page before and after.
final class PageWriter: NSObject, NFCTagReaderSessionDelegate {
  private let page: UInt8
  private let contents: Data
  private var session: NFCTagReaderSession?
  private var isWritten = false
  private var problem: String?

  init(page: UInt8, contents: Data) {
    self.page = page
    self.contents = contents
  }

  func scan() {
    session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
    session?.alertMessage = "Hold the tag near the reader."
    session?.begin()
  }

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
    if !isWritten { print(problem ?? error.localizedDescription) }
    exit(isWritten ? 0 : 1)
  }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard tags.count == 1, let tag = tags.first, case .miFare(let ultralight) = tag,
      ultralight.mifareFamily == .ultralight
    else {
      return stop(session, "Hold one MIFARE Ultralight or NTAG near the reader.")
    }
    session.connect(to: tag) { error in
      if let error = error { return self.stop(session, "The tag was removed: \(error.localizedDescription)") }
      self.readBefore(ultralight, session)
    }
  }

  private func readBefore(_ tag: NFCMiFareTag, _ session: NFCTagReaderSession) {
    // READ returns four pages of four bytes.
    tag.sendMiFareCommand(commandPacket: Data([0x30, page])) { pages, error in
      guard error == nil, pages.count == 16 else { return self.stop(session, "The page cannot be read.") }
      self.show(pages)
      self.write(tag, session)
    }
  }

  private func write(_ tag: NFCMiFareTag, _ session: NFCTagReaderSession) {
    tag.sendMiFareCommand(commandPacket: Data([0xA2, page]) + contents) { answer, error in
      guard error == nil, answer == Data([0x0A]) else { return self.stop(session, "The tag refuses the write.") }
      self.readAfter(tag, session)
    }
  }

  private func readAfter(_ tag: NFCMiFareTag, _ session: NFCTagReaderSession) {
    tag.sendMiFareCommand(commandPacket: Data([0x30, page])) { pages, error in
      guard error == nil, pages.prefix(4) == self.contents else {
        return self.stop(session, "The page has other contents than were written.")
      }
      self.show(pages)
      self.isWritten = true
      session.invalidate()
    }
  }

  private func show(_ pages: Data) {
    print("page \(page): \(pages.prefix(4).map { String(format: "%02X", $0) }.joined())")
  }

  private func stop(_ session: NFCTagReaderSession, _ problem: String) {
    self.problem = problem
    session.invalidate(errorMessage: problem)
  }
}

/// The page and its new contents from the command line. Nil if the arguments have another form.
func target(_ arguments: [String]) -> (page: UInt8, contents: Data)? {
  // Pages 0 to 3 hold the UID, the lock bits and the capability container.
  guard arguments.count == 2, let page = UInt8(arguments[0]), page >= 4, arguments[1].count == 8,
    let number = UInt32(arguments[1], radix: 16)
  else {
    return nil
  }
  return (page, Data([24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }))
}

guard let (page, contents) = target(Array(CommandLine.arguments.dropFirst())) else {
  print("usage: ultralight-writer PAGE CONTENTS, for example ultralight-writer 6 CAFE0123")
  exit(64)
}
let writer = PageWriter(page: page, contents: contents)
writer.scan()
dispatchMain()
