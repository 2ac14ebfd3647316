import CShims
package import EventLoop
import Glibc

/// What another program printed, and how it ended.
package struct ProgramOutput: Sendable {
  package enum End: Equatable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// It printed too much or took too long, and was killed.
    case stopped
  }

  /// Standard output, and standard error if it was asked for.
  package let bytes: [UInt8]
  package let end: End

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Runs a program in the environment of this one, without input. It is killed if it prints more than `mostBytes`, or
  /// runs longer than `timeout`. Does not block the caller's thread.
  package static func run(
    _ program: String, _ arguments: [String], withErrors: Bool = false, timeout: Duration, mostBytes: Int
  ) async throws(SystemError) -> ProgramOutput {
    try await DedicatedThread.run {
      Result { () throws(SystemError) in try wait(program, arguments, withErrors, timeout, mostBytes) }
    }.get()
  }

  /// Blocks until the program has ended.
  private static func wait(
    _ program: String, _ arguments: [String], _ withErrors: Bool, _ timeout: Duration, _ mostBytes: Int
  ) throws(SystemError) -> ProgramOutput {
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    let output = FileDescriptor(owning: ends[0])
    let child = try start(program, arguments, withErrors, FileDescriptor(owning: ends[1]))
    let bytes = read(output, timeout, mostBytes)
    if bytes == nil { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard let bytes else { return ProgramOutput(bytes: [], end: .stopped) }
    let exited = tagroute_exited_normally(status) != 0
    return ProgramOutput(
      bytes: bytes,
      end: exited ? .exited(tagroute_exit_code(status)) : .killed(signal: tagroute_ending_signal(status)))
  }

  /// This process's end of the output is closed when this returns. Otherwise it would never end.
  private static func start(
    _ program: String, _ arguments: [String], _ withErrors: Bool, _ output: FileDescriptor
  ) throws(SystemError) -> pid_t {
    var spawn = ProcessSpawn(
      program, arguments: [program] + arguments,
      environment: ProcessEnvironment.current.map { "\($0.key)=\($0.value)" })
    (spawn.input, spawn.output, spawn.errors) = (.null, .file(output), withErrors ? .file(output) : .null)
    return try spawn.start()
  }

  /// Until the end; nil if that is too much or takes too long.
  private static func read(_ output: FileDescriptor, _ timeout: Duration, _ mostBytes: Int) -> [UInt8]? {
    let end = ContinuousClock.now + timeout
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count <= mostBytes {
      let left = (end - .now) / .milliseconds(1)
      var event = pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&event, 1, Int32(left)) != 0 else { return nil }
      let count = Glibc.read(output.rawValue, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 { bytes += buffer.prefix(count) } else if errno != EINTR { return nil }
    }
    return nil
  }
}
