import EventLoop
import Glibc

/// A program that a test, a benchmark or the demo started. Tests can wait for its output line by line and for its exit.
/// If a wait fails, the error contains the log.
///
/// The process is killed when the last reference is released. Every line is also appended to a file in
/// `$TAGROUTE_TEST_LOGS`, named after the test. After a failure, the logs of all processes of the test can be printed.
package final class ChildProcess: Sendable {
  /// How a process ended.
  package enum ExitStatus: Sendable, Hashable {
    /// The process exited with this code.
    case exited(Int32)
    /// This signal killed the process.
    case signalled(Int32)
  }

  /// The most that a wait takes. It is not a measurement: a busy machine with a sanitizer may take half a minute for a
  /// step that takes a second elsewhere.
  package static let timeout = Duration.seconds(120)

  /// The process id.
  package let identifier: Int32
  /// The program's name, for messages.
  package let name: String
  private let output: ProcessOutput

  /// Starts a program, given by an absolute path, and collects its output. Standard input is `/dev/null`, unless the
  /// caller will use `send` and asks for `input`. A nil `environment` inherits the test's own. `starter` names the log.
  package init(
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

  /// Waits for a line that contains `text`, on either output. Skips `index` lines at the beginning of the log. Throws a
  /// `RigError` with the log if the process ends, or ``timeout`` passes, without such a line.
  @discardableResult
  package func line(containing text: String, after index: Int = 0) async throws -> String {
    try await output.line(after: index) { $0.contains(text) }
  }

  /// Waits for a line that `matches` accepts, on either output. Otherwise like `line(containing:after:)`.
  package func line(after index: Int = 0, matching matches: @escaping @Sendable (String) -> Bool) async throws -> String
  {
    try await output.line(after: index, matching: matches)
  }

  /// Waits until the process ends. Throws a `RigError` with the log if it still runs after the limit.
  @discardableResult
  package func exit(within limit: Duration = timeout) async throws -> ExitStatus {
    try await output.exit(within: limit)
  }

  /// Sends a signal to the process and waits until it has ended. Throws like ``exit(within:)``.
  @discardableResult
  package func exit(after signal: Int32) async throws -> ExitStatus {
    self.signal(signal)
    return try await exit()
  }

  /// Waits until no process can write to the outputs any more: neither this one nor one that inherited them. Returns
  /// false if the wait timed out.
  @discardableResult
  package func outputsClosed(within limit: Duration) async -> Bool { await output.outputsClosed(within: limit) }

  /// All lines so far, of both outputs in the order of their arrival.
  package func log() async -> [String] { await output.lines.map(\.text) }

  /// The standard output so far. Each line ends with a newline.
  package func standardOutput() async -> String {
    await output.lines.filter(\.isOutput).map { $0.text + "\n" }.joined()
  }

  /// Sends a signal, unless the process has ended: its id may belong to another process then.
  package func signal(_ number: Int32) { output.signal(number) }

  /// Writes a line without its newline to standard input. Fails if the process was started without `input`, or no
  /// longer reads it.
  package func send(_ line: String) async throws { try await output.send(line) }

  /// Runs a program to its end, with the arguments of `init`. The log is of both outputs.
  package static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, starter: String = #function
  )
    async throws -> (status: ExitStatus, output: String, log: [String])
  {
    let process = try ChildProcess(program, arguments, environment: environment, starter: starter)
    let status = try await process.exit()
    return (status, await process.standardOutput(), await process.log())
  }
}
