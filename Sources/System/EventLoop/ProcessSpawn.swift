import CShims
import Glibc

/// How to start a program (posix_spawn(3)). The program inherits only the things that are named here.
///
/// The child gets the descriptors below and no others. No signal is blocked or ignored in it. Otherwise the child would
/// inherit the blocked signals of an event loop's thread, and an ignored SIGPIPE.
public struct ProcessSpawn: Sendable {
  /// The target of a standard stream.
  public enum Stream: Sendable {
    /// `/dev/null`.
    case null
    /// The parent's own.
    case inherited
    /// This open file.
    case file(FileDescriptor)
  }

  /// The program's absolute path, or one relative to `workingDirectory`.
  public var program: String
  /// The whole argument vector, the program's name first.
  public var arguments: [String]
  /// The whole environment, as `NAME=value`.
  public var environment: [String]
  /// Descriptor 0.
  public var input = Stream.null
  /// Descriptor 1.
  public var output = Stream.inherited
  /// Descriptor 2.
  public var errors = Stream.inherited
  /// Descriptor 3; closed if nil.
  public var link: FileDescriptor?
  /// The child's working directory; nil for the parent's.
  public var workingDirectory: String?
  /// Whether the child leads its own session, so that it outlives the parent's terminal.
  public var leadsSession = false

  /// - Parameters:
  ///   - program: the program's path.
  ///   - arguments: the whole argument vector, the program's name first.
  ///   - environment: the whole environment, as `NAME=value`.
  public init(_ program: String, arguments: [String], environment: [String]) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
  }

  /// Starts the program. Blocks until it is loaded.
  ///
  /// - Returns: the process id. The caller must reap the process.
  /// - Throws: `SystemError` with the program and the reason.
  public func start() throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // The link comes first, because its number could be one of those that are overwritten next.
    if let link { posix_spawn_file_actions_adddup2(&actions, link.rawValue, 3) }
    for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      switch stream {
      case .null:
        posix_spawn_file_actions_addopen(
          &actions, number, "/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
      case .inherited: break
      case .file(let file): posix_spawn_file_actions_adddup2(&actions, file.rawValue, number)
      }
    }
    tagroute_spawn_close_from(&actions, link == nil ? 3 : 4)
    if let workingDirectory { tagroute_spawn_change_directory(&actions, workingDirectory) }

    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    tagroute_spawn_set_flags(&attributes, leadsSession ? 1 : 0)

    let vector = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for string in vector + variables { free(string) } }
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, program, &actions, &attributes, vector, variables)
    guard result == 0 else { throw SystemError("start \(program)", errno: result) }
    return identifier
  }
}
