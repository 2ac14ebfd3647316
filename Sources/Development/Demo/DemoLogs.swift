import Glibc
import Rig

/// The logs of a demo's programs, for a person who wants to know why it failed.
struct DemoLogs {
  private var logs: [(program: String, lines: [String])] = []

  /// The most lines that are printed.
  private static let mostPrinted = 10

  mutating func add(_ program: String, _ lines: [String]) { logs.append((program, lines)) }

  /// The last warnings and errors of our own programs, without their priorities (sd-daemon(3)).
  var warnings: [String] {
    let all = logs.flatMap { log in
      log.lines.filter { line in (0...4).contains { line.hasPrefix("<\($0)>") } }
        .map { "\(log.program): \($0.dropFirst(3))" }
    }
    return Array(all.suffix(Self.mostPrinted))
  }

  /// An error on one line, with the last line of the log of a process that failed.
  static func line(for error: any Error) -> String {
    guard let error = error as? RigError, let last = error.log.last(where: { !$0.isEmpty }) else { return "\(error)" }
    return "\(error.message): \(last)"
  }

  /// All lines, below the name of their program.
  var text: String { logs.map { "== \($0.program)\n" + $0.lines.map { "\($0)\n" }.joined() }.joined() }

  /// Writes all lines to a new file, which only this user can read. Returns its path.
  func store() throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/tagroute-demo.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw RigError("cannot create a file in \(folder): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw RigError("cannot write to \(folder)") }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
