/// What is wrong with an association file, and where.
public struct AssociationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A place in a file.
  public struct Position: Sendable, Hashable, CustomStringConvertible {
    /// Counted from 1, by line feeds.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    /// Both, as compilers write it.
    public var description: String { "\(line):\(column)" }
  }

  /// Where in the file it is; nil where it is the file as a whole, or no file.
  public let position: Position?
  /// The place as a path through the file, `applinks.details[0].components[2]`; empty where it is the file as a whole.
  public let location: String
  /// What is wrong there, as a sentence without its full stop.
  public let message: String

  init(_ message: String, at location: String = "", position: Position? = nil) {
    self.message = message
    self.location = location
    self.position = position
  }

  /// Position, place and message.
  public var description: String {
    (position.map { "\($0): " } ?? "") + (location.isEmpty ? "" : location + ": ") + message
  }

  /// A name out of the file as an error may show it: short, and in visible ASCII.
  static func quoted(_ name: String) -> String {
    let shown = name.unicodeScalars.prefix(40).map { (0x20...0x7E).contains($0.value) ? String($0) : "?" }.joined()
    return "\"\(shown)\""
  }
}
