import EventLoop
import Glibc

/// A program that a test, a benchmark or the demo started: its output line by line, its end, and its log
/// where something waited for never came.
///
/// The process is killed when the last reference goes. Every line is also appended to a file in `$TAGROUTE_TEST_LOGS`,
/// named after the test, so that the log of each process of a failed test can be printed.
public final class ChildProcess: Sendable {
  /// How a process ended.
  public enum ExitStatus: Sendable, Hashable {
    /// It returned this code.
    case exited(Int32)
    /// This signal ended it.
    case signalled(Int32)
  }

  /// How long something may take before it counts as something that never comes. It measures nothing: a busy machine with a
  /// sanitizer needs half a minute for what takes a second elsewhere.
  public static let patience = Duration.seconds(120)

  /// The process id.
  public let identifier: Int32
  /// The program's name, for messages.
  public let name: String
  private let output: ProcessOutput

  /// Starts a program with standard input from a pipe (or `/dev/null`) and its output collected.
  ///
  /// - Parameters:
  ///   - program: an absolute path.
  ///   - arguments: what follows the program's name.
  ///   - environment: the whole environment; `nil` inherits the test's own.
  ///   - input: whether `send` is going to be used; otherwise standard input is `/dev/null`.
  ///   - starter: the function on whose behalf it runs, which names the log.
  /// - Throws: `SystemError` where it cannot be started.
  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: Bool = false,
    starter: String = #function
  ) throws {
    name = program.split(separator: "/").last.map(String.init) ?? program
    let out = try Pipe()
    let err = try Pipe()
    let standardInput = try input ? Pipe() : nil
    var spawn = ProcessSpawn(
      program, arguments: [program] + arguments,
      environment: (environment ?? ProcessEnvironment.current).map { "\($0.key)=\($0.value)" })
    spawn.input = standardInput.map { .file($0.reading) } ?? .null
    spawn.output = .file(out.writing)
    spawn.errors = .file(err.writing)
    identifier = try spawn.start()
    output = ProcessOutput(name: name, identifier: identifier, input: standardInput?.writing, starter: starter)
    output.begin(out.reading, err.reading)
  }

  deinit { output.signal(SIGKILL) }

  /// Waits for a line that contains `text`, on either output, from the beginning of the log or after `index` lines.
  ///
  /// - Parameters:
  ///   - text: what the line must contain.
  ///   - index: how many lines of the log to pass over.
  /// - Returns: the line.
  /// - Throws: `RigError` with the log where the process ends, or ``patience`` passes, without it.
  @discardableResult
  public func line(containing text: String, after index: Int = 0) async throws -> String {
    try await output.line(after: index) { $0.contains(text) }
  }

  /// Waits for a line that is what is wanted, on either output, after `index` lines of the log.
  ///
  /// - Parameters:
  ///   - index: how many lines of the log to pass over.
  ///   - matches: whether a line is the one.
  /// - Returns: the line.
  /// - Throws: `RigError` with the log where the process ends, or ``patience`` passes, without it.
  public func line(after index: Int = 0, matching matches: @escaping @Sendable (String) -> Bool) async throws -> String
  {
    try await output.line(after: index, matching: matches)
  }

  /// Waits for the end.
  ///
  /// - Parameter limit: how long it may take, by default ``patience``.
  /// - Returns: how it ended.
  /// - Throws: `RigError` with the log where it still runs then.
  @discardableResult
  public func exit(within limit: Duration = patience) async throws -> ExitStatus {
    try await output.exit(within: limit)
  }

  /// Waits until nobody writes to its outputs any more: neither the process nor any that has inherited them from it.
  ///
  /// - Parameter limit: how long that may take.
  /// - Returns: whether it came to that.
  @discardableResult
  public func outputsClosed(within limit: Duration) async -> Bool { await output.outputsClosed(within: limit) }

  /// Every line so far, of both outputs in the order of their arrival.
  public func log() async -> [String] { await output.lines.map(\.text) }

  /// What came on standard output so far, lines joined by newlines.
  public func standardOutput() async -> String {
    await output.lines.filter(\.isOutput).map { $0.text + "\n" }.joined()
  }

  /// Sends a signal; not where it has ended, for its number may be another's then.
  public func signal(_ number: Int32) { output.signal(number) }

  /// Writes a line to standard input.
  ///
  /// - Parameter line: without its newline.
  /// - Throws: `RigError` where the process was started without `input`, or reads no more.
  public func send(_ line: String) async throws { try await output.send(line) }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - program: an absolute path.
  ///   - arguments: what follows the program's name.
  ///   - environment: the whole environment; `nil` inherits the test's own.
  ///   - starter: the function on whose behalf it runs, which names the log.
  /// - Returns: how it ended, what it printed on standard output, and its whole log.
  /// - Throws: `RigError` where it cannot be started or does not end.
  public static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, starter: String = #function
  )
    async throws -> (status: ExitStatus, output: String, log: [String])
  {
    let process = try ChildProcess(program, arguments, environment: environment, starter: starter)
    let status = try await process.exit()
    return (status, await process.standardOutput(), await process.log())
  }
}
