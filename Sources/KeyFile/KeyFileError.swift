/// A mistake in a key file: where it is, what is wrong, what would be right.
public struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as it was asked for.
  public let file: String
  /// The line, from 1; nil where the mistake is about the file as a whole.
  public let line: Int?
  /// What is wrong.
  public let problem: String
  /// What would be right.
  public let remedy: String

  /// - Parameters:
  ///   - file: the file's path.
  ///   - line: the line, from 1; nil where the mistake is about the file as a whole.
  ///   - problem: what is wrong.
  ///   - remedy: what would be right.
  public init(file: String, line: Int?, problem: String, remedy: String) {
    self.file = file
    self.line = line
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line: problem: remedy`, as compilers print it and editors jump to it.
  public var description: String {
    "\(file)\(line.map { ":\($0)" } ?? ""): \(problem): \(remedy)"
  }
}
