/// A mistake in a key file: its place, the problem and the remedy.
package struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as the caller gave it.
  package let file: String
  /// The line, from 1; nil if the mistake concerns the whole file.
  package let line: Int?
  /// The problem.
  package let problem: String
  /// The remedy.
  package let remedy: String

  /// The line counts from 1. It is nil if the mistake concerns the whole file.
  package init(file: String, line: Int?, problem: String, remedy: String) {
    self.file = file
    self.line = line
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line: problem: remedy`, the format that compilers print and editors can jump to.
  package var description: String {
    "\(file)\(line.map { ":\($0)" } ?? ""): \(problem): \(remedy)"
  }
}
