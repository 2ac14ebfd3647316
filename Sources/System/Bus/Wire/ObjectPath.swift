/// The path of an object: `/`, or elements of ASCII letters, digits and `_`, each after a `/`.
public struct ObjectPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The path as text.
  public let string: String

  /// The root.
  public static let root: ObjectPath = "/"

  /// - Parameter string: a path.
  /// - Throws: `BusError` if the text is not an object path ("Valid Object Paths" in the D-Bus specification).
  public init(_ string: String) throws(BusError) {
    guard NameRules.isObjectPath(string) else {
      throw .invalidValue("\(string.debugDescription) is not a valid object path")
    }
    self.string = string
  }

  /// A path that libdbus has already validated.
  init(validated string: String) {
    self.string = string
  }

  /// The text itself.
  public var description: String { string }

  /// Compares the bytes of the text.
  public static func < (a: ObjectPath, b: ObjectPath) -> Bool { a.string < b.string }

  /// The path one element deeper.
  ///
  /// - Throws: `BusError` if `element` is empty or has characters that a path may not have.
  public func appending(_ element: String) throws(BusError) -> ObjectPath {
    try ObjectPath(self == .root ? "/" + element : string + "/" + element)
  }

  /// Whether this path lies below `ancestor`; a path does not lie below itself.
  public func isBelow(_ ancestor: ObjectPath) -> Bool {
    guard self != ancestor else { return false }
    return ancestor == .root || string.utf8.starts(with: (ancestor.string + "/").utf8)
  }

  /// The first element of this path after `ancestor`, or nil if this path is not below it.
  func child(of ancestor: ObjectPath) -> String? {
    guard isBelow(ancestor) else { return nil }
    let rest = string.utf8.dropFirst(ancestor == .root ? 1 : ancestor.string.utf8.count + 1)
    return String(rest.prefix { $0 != UInt8(ascii: "/") })
  }
}

extension ObjectPath: ExpressibleByStringLiteral {
  /// For literals in the source code. Traps if the literal is invalid.
  public init(stringLiteral value: String) {
    precondition(NameRules.isObjectPath(value), "invalid object path in a literal")
    string = value
  }
}
