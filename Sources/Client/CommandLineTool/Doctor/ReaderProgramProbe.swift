import CShims
import EventLoop
import Glibc

/// Asks a program that uses readers for its version of the library that no other program loads.
enum ReaderProgramProbe {
  /// `--version` opens no device, so it is fast, except on a machine that is very busy.
  private static let timeout = Duration.seconds(30)
  /// More than any program prints for its version.
  private static let mostBytes = 65536
  /// The exit code of the dynamic linker if a library is missing or has the wrong version.
  private static let isNotLinked: Int32 = 127

  /// `libraries` are the names that the library may have in the output.
  static func run(_ path: String, libraries: Set<String>) async -> Examination.ReaderProgram {
    guard access(path, X_OK) == 0 else { return .isMissing(path: path) }
    do throws(SystemError) {
      return try await DedicatedThread.run { ask(path, libraries) }
    } catch {
      return .fails("\(error)")
    }
  }

  /// Blocks until the program has ended.
  private static func ask(_ path: String, _ libraries: Set<String>) -> Examination.ReaderProgram {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return .fails("cannot make a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let output = FileDescriptor(owning: ends[0])
    let child: pid_t
    do throws(SystemError) {
      let theirs = FileDescriptor(owning: ends[1])
      var spawn = ProcessSpawn(
        path, arguments: [path, "--version"], environment: ProcessEnvironment.current.map { "\($0.key)=\($0.value)" })
      (spawn.input, spawn.output, spawn.errors) = (.null, .file(theirs), .file(theirs))
      child = try spawn.start()
    } catch {
      return .fails("\(error)")
    }
    let text = read(output)
    if text == nil { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard let text else { return .fails("it does not print its version") }
    let lines = text.split(separator: "\n").map(String.init)
    guard tagroute_exited_normally(status) != 0 else {
      return .fails("it was killed by signal \(tagroute_ending_signal(status))")
    }
    switch tagroute_exit_code(status) {
    case 0:
      let version = lines.first { isVersion($0, of: libraries) }
      return version.map { .loads($0) } ?? .fails("it does not print its version")
    case isNotLinked:
      return .isNotLinked(lines.last { missingLibrary(in: $0) != nil } ?? lines.last ?? "a library is missing")
    case let code: return .fails(lines.last ?? "it ended with code \(code)")
    }
  }

  /// What the program prints until it ends; nil if that is too much or takes too long.
  private static func read(_ output: FileDescriptor) -> String? {
    let end = ContinuousClock.now + timeout
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= mostBytes {
      let left = (end - .now) / .milliseconds(1)
      var event = pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&event, 1, Int32(left)) != 0 else { return nil }
      let count = Glibc.read(output.rawValue, &buffer, buffer.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      if count > 0 { bytes += buffer.prefix(count) } else if errno != EINTR { return nil }
    }
    return nil
  }

  /// The library in an error of the dynamic linker (glibc, `elf/dl-error-skeleton.c` and `elf/dl-load.c`), such as
  /// `libnfc.so.6`; nil for another error, such as a missing symbol.
  ///
  /// The line is `PROGRAM: error while loading shared libraries: LIBRARY: PROBLEM`.
  static func missingLibrary(in line: String) -> String? {
    guard let words = line.firstRange(of: ": error while loading shared libraries: ") else { return nil }
    let path = line[words.upperBound...].prefix { $0 != ":" }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return name.contains(".so") ? name : nil
  }

  private static func isVersion(_ line: String, of libraries: Set<String>) -> Bool {
    let words = line.split(separator: " ").map(String.init)
    return words.count == 2 && libraries.contains(words[0])
  }
}
