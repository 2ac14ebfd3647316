import EventLoop
import Glibc
import Names

/// The path of `tagroute-reader`: beside `tagrouted`, as in a build folder, otherwise in libexec.
enum ReaderProgramPath {
  /// - Returns: an absolute path of an executable file.
  static func find() throws(DaemonError) -> String {
    let candidates = [OwnProgram.directory, Names.Files.libexec].compactMap(\.self).map {
      "\($0)/\(Names.Files.readerProgram)"
    }
    if let program = candidates.first(where: { access($0, X_OK) == 0 }) { return program }
    throw DaemonError(
      "\(Names.Files.readerProgram) is neither beside tagrouted nor in \(Names.Files.libexec): install it",
      exitCode: Names.ExitCode.failure)
  }
}
