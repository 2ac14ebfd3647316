/// Why a desktop entry, or a part of one, is not used as a handler.
package struct HandlerProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the desktop entry, of the file of path rules that it names, or of the directory.
  package let file: String
  /// The line, from 1, if the problem is about one.
  package let line: Int?
  /// The column in that line, from 1 and in Unicode scalars, if the problem is about one.
  package let column: Int?
  /// The mistake and its correction.
  package let message: String
  /// The desktop file id of the affected entry; nil if the problem is not about an entry.
  package internal(set) var desktopID: String?

  /// A problem in a file, at a place if it is about one.
  package init(file: String, line: Int? = nil, column: Int? = nil, message: String, desktopID: String? = nil) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
    self.desktopID = desktopID
  }

  /// `file:line:column: message`.
  package var description: String {
    "\(file)\(line.map { ":\($0)" } ?? "")\(column.map { ":\($0)" } ?? ""): \(message)"
  }
}
