import Glibc
import Rig

/// Has `tagroute-reader` say which libnfc it has: no other program loads that.
enum ReaderProgramProbe {
  /// It opens nothing and has no reason to take long.
  private static let patience = Duration.seconds(10)
  /// What a dynamic linker ends with that cannot put a program together: without a library, or with one of another version.
  private static let isNotLinked: Int32 = 127

  /// - Parameter path: where the program is to be.
  /// - Returns: what becomes of it.
  static func run(_ path: String) async -> Examination.ReaderProgram {
    guard access(path, X_OK) == 0 else { return .isMissing(path: path) }
    let process: ChildProcess
    let status: ChildProcess.ExitStatus
    do {
      process = try ChildProcess(path, ["--version"])
    } catch {
      return .fails("\(error)")
    }
    do {
      status = try await process.exit(within: patience)
    } catch {
      return .fails("it does not say its version")
    }
    let lines = await process.log()
    switch status {
    case .exited(0):
      let libnfc = lines.lazy.compactMap { line in version(in: line) }.first
      return libnfc.map { .loads(libnfc: $0) } ?? .fails("it does not say its version")
    case .exited(isNotLinked):
      return .isNotLinked(lines.last { missingLibrary(in: $0) != nil } ?? lines.last ?? "a library is missing")
    case .exited(let code): return .fails(lines.last ?? "it ends with \(code)")
    case .signalled(let number): return .fails("signal \(number) ends it")
    }
  }

  /// The library that the dynamic linker does not load, by what it prints then (glibc, `elf/dl-error-skeleton.c` and `elf/dl-load.c`).
  ///
  /// - Parameter line: as the linker has printed it: `PROGRAM: error while loading shared libraries: LIBRARY: PROBLEM`.
  /// - Returns: the file's name, `libnfc.so.6`; nil where the line says something else, that a symbol is missing for one.
  static func missingLibrary(in line: String) -> String? {
    guard let words = line.firstRange(of: ": error while loading shared libraries: ") else { return nil }
    let path = line[words.upperBound...].prefix { $0 != ":" }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return name.contains(".so") ? name : nil
  }

  private static func version(in line: String) -> String? {
    let words = line.split(separator: " ")
    return words.count == 2 && words[0] == "libnfc" ? String(words[1]) : nil
  }
}
