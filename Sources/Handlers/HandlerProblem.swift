/// Why a desktop entry, or a part of one, does not count as a handler.
public struct HandlerProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the desktop entry, of the file of path rules that it names, or of the directory.
  public let file: String
  /// The line, from 1, where it is about one.
  public let line: Int?
  /// The column in it, from 1 and in Unicode scalars, where it is about one.
  public let column: Int?
  /// What is wrong and what would be right.
  public let message: String
  /// The desktop file id of the entry that it costs something; nil where it is about no entry.
  public internal(set) var desktopID: String?

  /// - Parameters:
  ///   - file: the path of the desktop entry, of the file of path rules that it names, or of the directory.
  ///   - line: the line, from 1.
  ///   - column: the column in it, from 1.
  ///   - message: what is wrong and what would be right.
  ///   - desktopID: the desktop file id of the entry that it costs something.
  public init(file: String, line: Int? = nil, column: Int? = nil, message: String, desktopID: String? = nil) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
    self.desktopID = desktopID
  }

  /// `file:line:column: message`.
  public var description: String {
    "\(file)\(line.map { ":\($0)" } ?? "")\(column.map { ":\($0)" } ?? ""): \(message)"
  }
}
