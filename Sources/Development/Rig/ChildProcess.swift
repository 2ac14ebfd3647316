import CShims
import EventLoop
import Glibc

/// A program that a test, a benchmark or the demo started. Tests can wait for its output line by line and for its exit.
/// If a wait fails, the error contains the log.
///
/// The process is killed when the last reference is released. Every line is also appended to a file in
/// `$TAGROUTE_TEST_LOGS`, named after the test. After a failure, the logs of all processes of the test can be printed.
package final class ChildProcess: Sendable {
  package enum ExitStatus: Sendable, Hashable {
    case exited(Int32)
    case signalled(Int32)
  }

  /// The most that a wait takes. It is not a measurement: a busy machine with a sanitizer may take half a minute for a
  /// step that takes a second elsewhere.
  package static let timeout = Duration.seconds(120)

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
  @discardableResult package func line(containing text: String, after index: Int = 0) async throws -> String {
    try await output.line(after: index) { $0.contains(text) }
  }

  /// Waits for a line that `matches` accepts, on either output. Otherwise like `line(containing:after:)`.
  package func line(after index: Int = 0, matching matches: @escaping @Sendable (String) -> Bool) async throws -> String
  {
    try await output.line(after: index, matching: matches)
  }

  /// Waits until the process ends. Throws a `RigError` with the log if it still runs after the limit.
  @discardableResult package func exit(within limit: Duration = timeout) async throws -> ExitStatus {
    try await output.exit(within: limit)
  }

  /// Sends a signal to the process and waits until it has ended. Throws like ``exit(within:)``.
  @discardableResult package func exit(after signal: Int32) async throws -> ExitStatus {
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

/// The two ends of a pipe, close-on-exec.
struct Pipe {
  let reading: FileDescriptor
  let writing: FileDescriptor

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    reading = FileDescriptor(owning: ends[0])
    writing = FileDescriptor(owning: ends[1])
  }
}

/// The output and the end of a process, on a separate loop so that a busy test does not delay them.
actor ProcessOutput {
  struct Line {
    let text: String
    let isOutput: Bool
  }

  private enum Watched {
    case output
    case error
    case end
  }

  private struct Waiter {
    let id: Int
    let index: Int
    let matches: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<String, any Error>
  }

  private(set) var lines: [Line] = []
  private let loop: EventLoop
  private let name: String
  private let identifier: pid_t
  private let input: FileDescriptor?
  private let logFile: FileDescriptor?
  private var partial: [Bool: [UInt8]] = [:]
  private var open = 2
  private var watches: [Watched: DescriptorWatch] = [:]
  private var status: ChildProcess.ExitStatus?
  /// Whether the process was reaped. Its id may belong to another process then.
  private let isReaped = Locked(false)
  private var waiters: [Waiter] = []
  private var exitWaiters: [Int: CheckedContinuation<ChildProcess.ExitStatus, any Error>] = [:]
  private var closeWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var nextID = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(name: String, identifier: pid_t, input: FileDescriptor?, starter: String) {
    loop = EventLoop(label: "test.process.\(name)")
    self.name = name
    self.identifier = identifier
    self.input = input
    logFile = openLog(of: "\(name).\(identifier)", starter: starter)
  }

  /// Starts to follow a process, directly on the loop. A task would start on Swift's cooperative pool, behind every
  /// test that is computing there.
  nonisolated func begin(_ out: FileDescriptor, _ err: FileDescriptor) {
    loop.execute { self.assumeIsolated { $0.follow(out, err) } }
  }

  /// The watches keep the actor alive until the process has ended and closed both outputs.
  private func follow(_ out: FileDescriptor, _ err: FileDescriptor) {
    for (descriptor, isOutput) in [(out, true), (err, false)] {
      watches[isOutput ? .output : .error] = try? DescriptorWatch(descriptor, on: loop) { @Sendable in
        self.assumeIsolated { $0.readable(descriptor, isOutput: isOutput) }
      }
    }
    watches[.end] = try? DescriptorWatch(FileDescriptor(owning: tagroute_process_descriptor(identifier)), on: loop) {
      @Sendable in self.assumeIsolated { $0.reap() }
    }
  }

  private func readable(_ descriptor: FileDescriptor, isOutput: Bool) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor.rawValue, &buffer, buffer.count)
    if count > 0 {
      received(buffer[..<count], isOutput: isOutput)
    } else if count == 0 || errno != EINTR {
      watches.removeValue(forKey: isOutput ? .output : .error)?.cancel()
      closed(isOutput: isOutput)
    }
  }

  private func received(_ bytes: ArraySlice<UInt8>, isOutput: Bool) {
    if let logFile { bytes.withUnsafeBytes { _ = write(logFile.rawValue, $0.baseAddress, $0.count) } }
    // Search only the new bytes: a line may be megabytes long, and arrives in pieces.
    var rest = bytes
    while let length = ProcessOutput.lengthOfLine(rest) {
      partial[isOutput, default: []] += rest.prefix(length)
      append(Line(text: String(decoding: partial[isOutput, default: []], as: UTF8.self), isOutput: isOutput))
      partial[isOutput] = []
      rest = rest.dropFirst(length + 1)
    }
    partial[isOutput, default: []] += rest
  }

  /// The number of bytes before the first newline; nil if there is none.
  private static func lengthOfLine(_ bytes: ArraySlice<UInt8>) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress, let newline = memchr(start, 0x0A, buffer.count) else { return nil }
      return UnsafeRawPointer(newline) - start
    }
  }

  private func append(_ line: Line) {
    lines.append(line)
    for waiter in waiters where waiter.index < lines.count && waiter.matches(line.text) {
      waiters.removeAll { $0.id == waiter.id }
      waiter.continuation.resume(returning: line.text)
    }
  }

  private func closed(isOutput: Bool) {
    if let rest = partial[isOutput], !rest.isEmpty {
      append(Line(text: String(decoding: rest, as: UTF8.self), isOutput: isOutput))
    }
    partial[isOutput] = nil
    open -= 1
    if open == 0 {
      for waiter in closeWaiters.values { waiter.resume() }
      closeWaiters = [:]
    }
    settle()
  }

  private func reap() {
    watches.removeValue(forKey: .end)?.cancel()
    var raw: Int32 = 0
    // The process has ended, so `waitpid` returns at once and the lock is held only briefly.
    let isOurs = isReaped.withLock { isReaped in
      isReaped = true
      return waitpid(identifier, &raw, 0) == identifier
    }
    guard isOurs else { return }
    status =
      tagroute_exited_normally(raw) != 0 ? .exited(tagroute_exit_code(raw)) : .signalled(tagroute_ending_signal(raw))
    settle()
  }

  /// Ends all waits once the process has ended. A grandchild may keep an output open, so this waits only 200 ms for it.
  private func settle() {
    guard let status else { return }
    if open > 0 {
      loop.schedule(after: .milliseconds(200)) { self.assumeIsolated { $0.finish(status) } }
    } else {
      finish(status)
    }
  }

  private func finish(_ status: ChildProcess.ExitStatus) {
    for waiter in exitWaiters.values { waiter.resume(returning: status) }
    exitWaiters = [:]
    let pending = waiters
    waiters = []
    for waiter in pending {
      waiter.continuation.resume(throwing: failure("ended (\(status)) before the line that was waited for"))
    }
  }

  private func failure(_ what: String) -> RigError {
    let log = lines.suffix(100).map { line in
      let start = line.text.prefix(400)
      return "\(start)\(start.endIndex == line.text.endIndex ? "" : "…")"
    }
    return RigError("\(name)[\(identifier)] \(what)", log: log)
  }

  func line(after index: Int, matching matches: @escaping @Sendable (String) -> Bool) async throws -> String {
    if let found = lines.dropFirst(index).first(where: { matches($0.text) }) { return found.text }
    if status != nil && open == 0 { throw failure("has ended without the line that was waited for") }
    let id = nextID
    nextID += 1
    return try await withCheckedThrowingContinuation { continuation in
      waiters.append(Waiter(id: id, index: index, matches: matches, continuation: continuation))
      loop.schedule(after: ChildProcess.timeout) { [weak self] in self?.assumeIsolated { $0.expire(line: id) } }
    }
  }

  func exit(within limit: Duration) async throws -> ChildProcess.ExitStatus {
    if let status, open == 0 { return status }
    let id = nextID
    nextID += 1
    return try await withCheckedThrowingContinuation { continuation in
      exitWaiters[id] = continuation
      if status != nil { settle() }
      loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.expire(exit: id, after: limit) } }
    }
  }

  func outputsClosed(within limit: Duration) async -> Bool {
    guard open > 0 else { return true }
    let id = nextID
    nextID += 1
    await withCheckedContinuation { continuation in
      closeWaiters[id] = continuation
      loop.schedule(after: limit) { [weak self] in
        self?.assumeIsolated { $0.closeWaiters.removeValue(forKey: id)?.resume() }
      }
    }
    return open == 0
  }

  private func expire(line id: Int) {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
    waiters.remove(at: index).continuation.resume(
      throwing: failure("did not say within \(ChildProcess.timeout) what was waited for"))
  }

  private func expire(exit id: Int, after limit: Duration) {
    exitWaiters.removeValue(forKey: id)?.resume(throwing: failure("still runs after \(limit)"))
  }

  /// May be called on any thread.
  nonisolated func signal(_ number: Int32) {
    isReaped.withLock { isReaped in if !isReaped { kill(identifier, number) } }
  }

  func send(_ line: String) throws {
    guard let input else { throw RigError("\(name) was started without an input") }
    let bytes = Array((line + "\n").utf8)
    guard write(input.rawValue, bytes, bytes.count) == bytes.count else { throw failure("reads no more") }
  }
}

/// Opens the log of a process for appending, in the folder of the test's logs; nil if there is none.
private func openLog(of name: String, starter: String) -> FileDescriptor? {
  guard let folder = getenv("TAGROUTE_TEST_LOGS").map({ String(cString: $0) }) else { return nil }
  let safe = String(starter.prefix { $0 != "(" }.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  let descriptor = Glibc.open("\(folder)/\(safe).\(name).log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
}

/// Keeps the log of a process that writes it to a file, as those of the other processes of the test. `name` is the
/// process, `starter` the test.
package func keepLog(_ text: String, of name: String, starter: String) {
  try? openLog(of: name, starter: starter)?.write(Array(text.utf8))
}
