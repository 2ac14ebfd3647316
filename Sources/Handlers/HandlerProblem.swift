/// Why a desktop entry, or a part of one, does not count as a handler.
public struct HandlerProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The desktop entry's path, or the directory's.
  public let file: String
  /// The line, from 1, where it is about one.
  public let line: Int?
  /// What is wrong and what would be right.
  public let message: String

  /// - Parameters:
  ///   - file: the desktop entry's path, or the directory's.
  ///   - line: the line, from 1.
  ///   - message: what is wrong and what would be right.
  public init(file: String, line: Int? = nil, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// `file:line: message`.
  public var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(message)" }
}
