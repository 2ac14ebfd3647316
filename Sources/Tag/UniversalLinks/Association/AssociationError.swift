/// An error in an association file, with its place.
public struct AssociationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A line and a column in a file.
  public struct Position: Sendable, Hashable, CustomStringConvertible {
    /// Counted from 1, by line feeds.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    /// Line and column in the format of compiler messages.
    public var description: String { "\(line):\(column)" }
  }

  /// The line and column of the error. Nil if the error has none: the file is too large, or there is no file.
  public let position: Position?
  /// The location as a path through the file, `applinks.details[0].components[2]`. Empty for the file as a whole, and
  /// if it is not JSON.
  public let location: String
  /// The error, as a sentence without its full stop.
  public let message: String

  init(_ message: String, at location: String = "", position: Position? = nil) {
    self.message = message
    self.location = location
    self.position = position
  }

  /// Position, location and message.
  public var description: String {
    (position.map { "\($0): " } ?? "") + (location.isEmpty ? "" : location + ": ") + message
  }

  /// A name from the file as an error message may show it: at most 40 characters, all of them visible ASCII or spaces.
  static func quoted(_ name: String) -> String {
    let shown = name.unicodeScalars.prefix(40).map { (0x20...0x7E).contains($0.value) ? String($0) : "?" }.joined()
    return "\"\(shown)\""
  }
}
