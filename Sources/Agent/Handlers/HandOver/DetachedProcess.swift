import CShims
import EventLoop
import Glibc

/// A program to start in a new session. It inherits at most our standard output and error.
struct DetachedProcess: Sendable {
  /// The program's absolute path, or one relative to `workingDirectory`.
  var program: String
  /// The whole argument vector. The first element is the program's name.
  var arguments: [String]
  /// The whole environment.
  var environment: [String: String]
  var workingDirectory: String
  /// The bytes on the program's standard input; nil for an empty input.
  var input: [UInt8]?
  /// Whether its output and errors are discarded.
  var discardsOutput = false

  /// Starts the program. Blocks until it is loaded. Returns the process id, which the caller has to reap. The error
  /// names the step that failed.
  func start() throws(SystemError) -> pid_t {
    let input = try input.map { bytes throws(SystemError) in try Self.memoryFile(bytes) }
    var spawn = ProcessSpawn(
      program, arguments: arguments, environment: environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    )
    spawn.input = input.map { .file($0) } ?? .null
    spawn.workingDirectory = workingDirectory
    spawn.leadsSession = true
    if discardsOutput { (spawn.output, spawn.errors) = (.null, .null) }
    return try spawn.start()
  }

  /// A sealed file in memory that holds `bytes`, positioned at its start.
  private static func memoryFile(_ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
    let number = tagroute_memory_file("ndef-message")
    guard number >= 0 else { throw SystemError("make a memory file for the message") }
    let file = FileDescriptor(owning: number)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write the message to a memory file") }
      rest = rest.dropFirst(count)
    }
    guard tagroute_seal_memory_file(number) == 0, lseek(number, 0, SEEK_SET) == 0 else {
      throw SystemError("seal the message's memory file")
    }
    return file
  }
}
