import CShims
import EventLoop
import Glibc

/// A program to be started in a session of its own, with nothing of ours but its standard output and error.
struct DetachedProcess: Sendable {
  /// The program's absolute path, or one relative to `workingDirectory`.
  var program: String
  /// The whole argument vector, the program's name first.
  var arguments: [String]
  /// The whole environment.
  var environment: [String: String]
  /// Where it starts.
  var workingDirectory: String
  /// What it reads on standard input; nil is an empty input.
  var input: [UInt8]?

  /// Starts it. Blocks until the program is loaded.
  ///
  /// The mask and the dispositions of signals are as at login: an event loop's threads block signals, and whoever
  /// ignores SIGPIPE would have its children ignore it.
  ///
  /// - Returns: its process id. It is the caller's to reap.
  /// - Throws: `SystemError`, which says what could not be done.
  func start() throws(SystemError) -> pid_t {
    let input = try input.map { bytes throws(SystemError) in try Self.memoryFile(bytes) }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input.rawValue, STDIN_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    tagroute_spawn_close_from(&actions, 3)
    tagroute_spawn_change_directory(&actions, workingDirectory)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    tagroute_spawn_set_session_and_signals(&attributes)

    let vector = arguments.map { strdup($0) } + [nil]
    let variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in vector + variables { free(pointer) } }
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, program, &actions, &attributes, vector, variables)
    guard result == 0 else { throw SystemError("start \(program)", errno: result) }
    return identifier
  }

  /// A file in memory that holds `bytes` and that nobody can change any more, read from its start.
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
