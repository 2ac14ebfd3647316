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
    let output: ProgramOutput
    do throws(SystemError) {
      output = try await .run(path, ["--version"], withErrors: true, timeout: timeout, mostBytes: mostBytes)
    } catch {
      return .fails("\(error)")
    }
    let lines = output.text.split(separator: "\n").map(String.init)
    switch output.end {
    case .stopped: return .fails("it does not print its version")
    case .killed(let signal): return .fails("it was killed by signal \(signal)")
    case .exited(0):
      let version = lines.first { isVersion($0, of: libraries) }
      return version.map { .loads($0) } ?? .fails("it does not print its version")
    case .exited(isNotLinked):
      return .isNotLinked(lines.last { missingLibrary(in: $0) != nil } ?? lines.last ?? "a library is missing")
    case .exited(let code): return .fails(lines.last ?? "it ended with code \(code)")
    }
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
