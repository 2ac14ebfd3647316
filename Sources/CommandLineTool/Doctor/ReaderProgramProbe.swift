import Glibc
import Rig

/// Has `tagroute-reader` say which libnfc it has: no other program loads that.
enum ReaderProgramProbe {
  /// It opens nothing and has no reason to take long.
  private static let patience = Duration.seconds(10)
  /// What a dynamic linker ends with that does not find a library (ld.so(8) prints which).
  private static let libraryIsMissing: Int32 = 127

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
    case .exited(libraryIsMissing): return .isWithoutLibrary(lines.last ?? "a library is missing")
    case .exited(let code): return .fails(lines.last ?? "it ends with \(code)")
    case .signalled(let number): return .fails("signal \(number) ends it")
    }
  }

  private static func version(in line: String) -> String? {
    let words = line.split(separator: " ")
    return words.count == 2 && words[0] == "libnfc" ? String(words[1]) : nil
  }
}
