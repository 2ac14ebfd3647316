import Glibc
import Names

/// Where `tagroute-reader` is: beside `tagrouted`, as in a build folder, else in libexec.
enum ReaderProgramPath {
  /// - Returns: an absolute path of an executable file.
  static func find() throws(DaemonError) -> String {
    let candidates = [ownDirectory(), Names.Files.libexec].compactMap(\.self).map {
      "\($0)/\(Names.Files.readerProgram)"
    }
    if let program = candidates.first(where: { access($0, X_OK) == 0 }) { return program }
    throw DaemonError(
      "\(Names.Files.readerProgram) is neither beside tagrouted nor in \(Names.Files.libexec): install it",
      exitCode: Names.ExitCode.failure)
  }

  private static func ownDirectory() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    guard length > 0, let slash = buffer[..<length].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    return String(validating: buffer[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
