import CoreNFC

/// Writes one message to one tag.
final class TagWriter: NSObject, NFCNDEFReaderSessionDelegate {
  private let message: NFCNDEFMessage
  private var session: NFCNDEFReaderSession?
  private var isWritten = false
  private var problem: String?

  init(message: NFCNDEFMessage) {
    self.message = message
  }

  func scan() {
    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
    session?.alertMessage = "Hold the tag near the reader."
    session?.begin()
  }

  /// Not called, because the delegate takes tags. The protocol requires it.
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [NFCNDEFTag]) {
    guard tags.count == 1, let tag = tags.first else {
      session.alertMessage = "Hold only one tag near the reader."
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
      return
    }
    session.connect(to: tag) { error in
      if let error = error { return self.stop(session, "The tag was removed: \(error.localizedDescription)") }
      self.examine(tag, session)
    }
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {
    if !isWritten { print(problem ?? error.localizedDescription) }
    exit(isWritten ? 0 : 1)
  }

  private func examine(_ tag: NFCNDEFTag, _ session: NFCNDEFReaderSession) {
    tag.queryNDEFStatus { status, capacity, error in
      if let error = error { return self.stop(session, "The tag gives no status: \(error.localizedDescription)") }
      let length = self.message.length
      switch status {
      case .readWrite where length <= capacity: self.write(to: tag, session)
      case .readWrite: self.stop(session, "The message has \(length) bytes, and the tag holds only \(capacity).")
      case .readOnly: self.stop(session, "The tag is read-only.")
      default: self.stop(session, "The tag holds no messages.")
      }
    }
  }

  private func write(to tag: NFCNDEFTag, _ session: NFCNDEFReaderSession) {
    tag.writeNDEF(message) { error in
      if let error = error { return self.stop(session, "The tag was not written: \(error.localizedDescription)") }
      print("Wrote \(self.message.length) bytes.")
      self.isWritten = true
      session.alertMessage = "The tag was written."
      session.invalidate()
    }
  }

  private func stop(_ session: NFCNDEFReaderSession, _ problem: String) {
    self.problem = problem
    session.invalidate(errorMessage: problem)
  }
}

/// The record for the command line: a link, or `--text` and a text. Nil if the arguments have another form.
func record(_ arguments: [String]) -> NFCNDEFPayload? {
  switch (arguments.count, arguments.first) {
  case (1, let link?): return .wellKnownTypeURIPayload(string: link)
  case (2, "--text"): return .wellKnownTypeTextPayload(string: arguments[1], locale: Locale(identifier: "en"))
  default: return nil
  }
}

guard let payload = record(Array(CommandLine.arguments.dropFirst())) else {
  print("usage: tag-writer LINK, or tag-writer --text TEXT")
  exit(64)
}
let writer = TagWriter(message: NFCNDEFMessage(records: [payload]))
writer.scan()
dispatchMain()
