import NDEF
import Names
import TagrouteClient

/// `inbox export`: writes a message or all taps to a file.
struct InboxExport {
  let inbox: InboxReader
  let file: OutputFile
  let console: Console

  init(_ inbox: InboxReader, _ file: OutputFile, _ console: Console) {
    self.inbox = inbox
    self.file = file
    self.console = console
  }

  /// Writes the NDEF message of one tap, as it was on the tag, or the payload of one of its records.
  func write(_ text: String, record number: Int?) async throws(Failure) {
    let tap = try await inbox.tap(text)
    var bytes = tap.message ?? []
    if let number {
      let records = (try? NDEFMessage(decoding: bytes).records) ?? []
      guard records.indices.contains(number - 1) else {
        throw .usage("this tap has no record \(number): its last one is \(records.count)")
      }
      bytes = records[number - 1].payload
    }
    let contents = bytes
    try await file.write { write throws(Failure) in try write(contents) }
    try console.answer(["file": file.path, "taps": 1, "bytes": contents.count] as JSON)
  }

  /// Writes all taps, newest first, one per line as JSON.
  func writeAll() async throws(Failure) {
    let lines = Console(json: true)
    var (taps, bytes) = (0, 0)
    try await file.write { write throws(Failure) in
      try await inbox.pages(withMessages: true) { page throws(Failure) in
        for tap in page {
          let line = Array(try lines.text(StoredTapReport(tap), onOneLine: true).utf8)
          try write(line)
          taps += 1
          bytes += line.count
        }
      }
    }
    try console.answer(["file": file.path, "taps": taps, "bytes": bytes] as JSON)
  }
}
