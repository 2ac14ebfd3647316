import Names
import TagrouteClient

/// `inbox export`: a message, or all taps, into a file.
struct InboxExport {
  let inbox: InboxReader
  let file: OutputFile
  let console: Console

  init(_ inbox: InboxReader, _ file: OutputFile, _ console: Console) {
    self.inbox = inbox
    self.file = file
    self.console = console
  }

  /// The NDEF message of one tap, as it was on the tag.
  func write(_ text: String) async throws(Failure) {
    let tap = try await inbox.tap(text)
    let message = tap.message ?? []
    try await file.write { write throws(Failure) in try write(message[...]) }
    try console.answer(ExportReport(file: file.path, taps: 1, bytes: message.count))
  }

  /// All taps, the newest first, each on a line of JSON.
  func writeAll() async throws(Failure) {
    let lines = Console(json: true)
    var (taps, bytes) = (0, 0)
    try await file.write { write throws(Failure) in
      try await inbox.pages(withMessages: true) { page throws(Failure) in
        for tap in page {
          let line = Array(try lines.text(StoredTapReport(tap), onOneLine: true).utf8)
          try write(line[...])
          taps += 1
          bytes += line.count
        }
      }
    }
    try console.answer(ExportReport(file: file.path, taps: taps, bytes: bytes))
  }
}

/// What `inbox export` prints; its keys are what scripts depend on.
struct ExportReport: Encodable {
  let file: String
  let taps: Int
  let bytes: Int
}
