import EventLoop
import Glibc
import Names
import TestRig
import Testing

/// An operation that a test makes `tagroute-reader-pcsc` try, and the expected outcome in a confined process.
struct CardAttempt: Sendable, CustomTestStringConvertible {
  enum Outcome: Hashable {
    case done
    /// The name of an error in errno(3).
    case error(String)
    case killed(Int32)
  }

  /// What the process does.
  enum Role: CaseIterable {
    /// It uses a reader.
    case serve
    /// It lists the readers.
    case list
  }

  let name: String
  var subject = ""
  let outcome: Outcome

  var testDescription: String { "\(name) \(subject)" }

  static func killed(_ name: String) -> Self { Self(name: name, outcome: .killed(SIGSYS)) }
  static func unknown(_ name: String, _ subject: String = "") -> Self {
    Self(name: name, subject: subject, outcome: .error("ENOSYS"))
  }
  static func refused(_ name: String) -> Self { Self(name: name, outcome: .error("EPERM")) }
  static func withoutFile(_ name: String, _ subject: String) -> Self {
    Self(name: name, subject: subject, outcome: .error("EACCES"))
  }

  /// Tries the operation in the real process, before or after it has confined itself. Fails if the process does not show
  /// that it has tried.
  func callAsFunction(isConfined: Bool, as role: Role) async throws -> Outcome {
    let environment = [
      "LD_PRELOAD": try await Self.library.value, "ATTEMPT": name, "SUBJECT": subject,
      "ATTEMPT_WHEN": isConfined ? "after" : "before",
    ]
    let directory = try TemporaryDirectory()
    let output = open(directory.file("output"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0, output >= 0
    else { throw RigError("no descriptor is left") }
    let daemon = FileDescriptor(owning: pair[0])
    let program = try BuiltProducts.program(Names.Files.pcscReaderProgram)
    let arguments = role == .list ? ["--list"] : ["--link", "3", "--device", "pcsc:Reader"]
    var spawn = ProcessSpawn(
      program, arguments: [program] + arguments, environment: environment.map { "\($0.key)=\($0.value)" })
    spawn.output = .file(FileDescriptor(owning: output))
    spawn.errors = .null
    spawn.link = FileDescriptor(owning: pair[1])
    let child = try ForeignProcess(try spawn.start())
    // The process ends itself, unless the library was not loaded.
    let timers = EventLoop(label: "attempt")
    let watchdog = timers.schedule(after: ChildProcess.timeout) { child.signal(SIGKILL) }
    try await child.end()
    watchdog.cancel()
    var status: Int32 = 0
    waitpid(child.identifier, &status, 0)
    withExtendedLifetime(daemon) {}
    if status & 0x7F != 0 { return .killed(status & 0x7F) }
    let text = String(decoding: try readFile(directory.file("output")), as: UTF8.self)
    switch text.split(separator: "\n").last {
    case "done": return .done
    case let word? where word.hasPrefix("E"): return .error(String(word))
    default: throw RigError("\(name) \(subject): not tried; status \(status), output \(text)")
    }
  }

  /// The folder of the compiled library. It is removed when the test process ends.
  private static let folder: Result<TemporaryDirectory, any Error> = Result {
    let folder = try TemporaryDirectory()
    atexit {
      guard let folder = try? CardAttempt.folder.get() else { return }
      unlink(folder.file("attempts.so"))
      rmdir(folder.path)
    }
    return folder
  }

  /// The library that is loaded into the process, compiled once.
  private static let library = Task {
    let source = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/card-attempts.c"
    let library = try folder.get().file("attempts.so")
    // Always installed, because Swift itself links with it.
    let compiler = try BuiltProducts.systemProgram("clang", package: "clang")
    let ended = try await ChildProcess.run(compiler, ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source])
    guard ended.status == .exited(0) else { throw RigError("\(source): \(ended.log)") }
    return library
  }
}
