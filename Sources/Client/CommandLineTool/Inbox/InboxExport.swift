import CShims
import EventLoop
import Glibc
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
      let records = tap.read?.message?.records ?? []
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

/// A private file that a command writes. It replaces an existing file only on request.
struct OutputFile: Equatable {
  /// `-` is standard output.
  let path: String
  let overwrites: Bool

  var isStandardOutput: Bool { path == "-" }

  /// Checks what can be checked before the content is known. A terminal can show the content if `isText`.
  func check(isText: Bool, _ console: Console) throws(Failure) {
    guard !isStandardOutput else {
      guard !console.json else { throw .usage("--json cannot be used if the file itself goes to standard output") }
      guard isText || isatty(STDOUT_FILENO) == 0 else {
        throw .usage("a message is binary data: name a file, or send it to another program")
      }
      return
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it exists and is not a regular file") }
    guard overwrites else { throw failure(Self.isThere) }
  }

  /// Writes the file piece by piece. The file gets its name when it is complete. `body` receives a function that writes
  /// a piece. After a failure, the incomplete file is removed.
  func write(_ body: (([UInt8]) throws(Failure) -> Void) async throws(Failure) -> Void) async throws(Failure) {
    if isStandardOutput {
      return try await body { bytes throws(Failure) in try write(bytes, to: Console.output) }
    }
    let (written, descriptor) = try create()
    do throws(Failure) {
      try await body { bytes throws(Failure) in try write(bytes, to: descriptor) }
      guard fsync(descriptor.rawValue) == 0 else { throw failure("cannot write it: \(Self.reason)") }
      guard (overwrites ? rename(written, path) : tagroute_rename_to_new(written, path)) == 0 else {
        throw failure(errno == EEXIST ? Self.isThere : "cannot write it: \(Self.reason)")
      }
    } catch {
      unlink(written)
      throw error
    }
  }

  /// A temporary file in the same directory, readable only for the user.
  private func create() throws(Failure) -> (path: String, descriptor: FileDescriptor) {
    // Mode 0600: see mkstemp(3).
    var name = Array("\(path).XXXXXX".utf8CString)
    let number = mkstemp(&name)
    guard number >= 0 else { throw failure("cannot create a temporary file beside it: \(Self.reason)") }
    return (
      String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), FileDescriptor(owning: number)
    )
  }

  private func write(_ bytes: [UInt8], to descriptor: FileDescriptor) throws(Failure) {
    do throws(SystemError) { try descriptor.write(bytes) } catch { throw failure("\(error)") }
  }

  private func failure(_ reason: String) -> Failure {
    Failure(message: "\(isStandardOutput ? "standard output" : path): \(reason)", exitCode: Names.ExitCode.cannotCreate)
  }

  private static let isThere = "it exists; --force overwrites it"
  private static var reason: String { String(cString: strerror(errno)) }
}
