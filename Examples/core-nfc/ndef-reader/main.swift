import CoreNFC

/// Reads the first tag that holds a message, and prints its records.
final class MessageReader: NSObject, NFCNDEFReaderSessionDelegate {
  private var session: NFCNDEFReaderSession?

  func scan() {
    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
    session?.alertMessage = "Hold a tag near the reader."
    session?.begin()
  }

  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    for message in messages {
      for (number, record) in zip(1..., message.records) {
        print("record \(number): \(describe(record))")
      }
    }
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {
    if let readerError = error as? NFCReaderError,
      readerError.code == .readerSessionInvalidationErrorFirstNDEFTagRead
    {
      exit(0)
    }
    if NFCNDEFReaderSession.readingAvailable {
      print("No tag was read: \(error.localizedDescription)")
    } else {
      print("This machine has no reader that you can use.")
    }
    exit(1)
  }

  private func describe(_ record: NFCNDEFPayload) -> String {
    switch record.typeNameFormat {
    case .nfcWellKnown:
      if let url = record.wellKnownTypeURIPayload() { return "link \(url.absoluteString)" }
      let (text, locale) = record.wellKnownTypeTextPayload()
      if let text = text { return "text (\(locale?.identifier ?? "no language")) \(visible(text))" }
      return "well-known type \(string(record.type)), \(record.payload.count) bytes"
    case .media: return "media type \(string(record.type)), \(record.payload.count) bytes"
    case .nfcExternal: return "external type \(string(record.type)), \(record.payload.count) bytes"
    case .absoluteURI: return "link \(string(record.type))"
    default: return "another record, \(record.payload.count) bytes"
    }
  }

  private func string(_ data: Data) -> String { visible(String(decoding: data, as: UTF8.self)) }

  /// Replaces control characters, because a stranger's text must not control the terminal.
  private func visible(_ text: String) -> String {
    text.components(separatedBy: .controlCharacters).joined(separator: ".")
  }
}

let reader = MessageReader()
reader.scan()
dispatchMain()
