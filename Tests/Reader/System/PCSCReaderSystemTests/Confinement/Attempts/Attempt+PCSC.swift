import EventLoop
import Glibc
import Names
import TestKit

extension Attempt {
  /// What `tagroute-reader-pcsc` does.
  enum Role: CaseIterable {
    /// It uses a reader.
    case serve
    /// It lists the readers.
    case list
  }

  /// Tries the operation in the real process, before or after it has confined itself. Fails if the process does not show
  /// that it has tried.
  func callAsFunction(isConfined: Bool, as role: Role) async throws -> Outcome {
    let environment = [
      "LD_PRELOAD": try await Self.cardLibrary.value, "ATTEMPT": name, "SUBJECT": subject,
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
    guard let outcome = Outcome(printed: text) else {
      throw RigError("\(name) \(subject): not tried; status \(status), output \(text)")
    }
    return outcome
  }

  /// The library that is loaded into the process, compiled once.
  private static let cardLibrary = Task {
    let folder = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    return try await compile(folder + "/card-attempts.c", to: "card-attempts.so")
  }
}
