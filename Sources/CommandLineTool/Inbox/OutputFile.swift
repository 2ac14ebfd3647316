import CShims
import EventLoop
import Glibc
import Names

/// A file that a command writes for the user: private, and never in the place of another without being told so.
struct OutputFile: Equatable {
  /// `-` is standard output.
  let path: String
  let overwrites: Bool

  var isStandardOutput: Bool { path == "-" }

  /// Looks at what can be seen before there is anything to write.
  ///
  /// - Parameters:
  ///   - isText: whether a terminal can show it.
  ///   - console: where the command's answer goes.
  /// - Throws: a failure that says what is in the way.
  func check(isText: Bool, _ console: Console) throws(Failure) {
    guard !isStandardOutput else {
      guard !console.json else { throw .usage("--json has no place where the file itself is standard output") }
      guard isText || isatty(STDOUT_FILENO) == 0 else {
        throw .usage("these are bytes, which no terminal can show: name a file, or send them to another program")
      }
      return
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it is there already, and is no regular file") }
    guard overwrites else { throw failure(Self.isThere) }
  }

  /// Writes the file piece by piece. Under its name there is what was there until all of it is written, nothing say.
  ///
  /// - Parameter body: is given what writes a piece.
  /// - Throws: why it cannot be written; nothing is left behind then.
  func write(_ body: ((ArraySlice<UInt8>) throws(Failure) -> Void) async throws(Failure) -> Void) async throws(Failure)
  {
    if isStandardOutput {
      return try await body { bytes throws(Failure) in try write(bytes, to: STDOUT_FILENO) }
    }
    let (written, descriptor) = try create()
    do throws(Failure) {
      try await body { bytes throws(Failure) in try write(bytes, to: descriptor.rawValue) }
      guard fsync(descriptor.rawValue) == 0 else { throw failure("cannot write it: \(Self.reason)") }
      guard (overwrites ? rename(written, path) : tagroute_rename_to_new(written, path)) == 0 else {
        throw failure(errno == EEXIST ? Self.isThere : "cannot write it: \(Self.reason)")
      }
    } catch {
      unlink(written)
      throw error
    }
  }

  /// A new file that nobody else can read, beside the place that it is for.
  private func create() throws(Failure) -> (path: String, descriptor: FileDescriptor) {
    // Mode 0600: see mkstemp(3).
    var name = Array("\(path).XXXXXX".utf8CString)
    let number = mkstemp(&name)
    guard number >= 0 else { throw failure("cannot make a file beside it: \(Self.reason)") }
    return (
      String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), FileDescriptor(owning: number)
    )
  }

  private func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Failure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("cannot write it: \(Self.reason)") }
      rest = rest.dropFirst(count)
    }
  }

  private func failure(_ reason: String) -> Failure {
    Failure(message: "\(isStandardOutput ? "standard output" : path): \(reason)", exitCode: Names.ExitCode.cannotCreate)
  }

  private static let isThere = "it is there already; --force overwrites it"
  private static var reason: String { String(cString: strerror(errno)) }
}
