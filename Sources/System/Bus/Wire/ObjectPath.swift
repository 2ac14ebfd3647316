internal import CDBus
internal import Glibc

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

/// The rules for names, as libdbus itself applies them ("Valid Names" in the D-Bus specification).
///
/// libdbus aborts the process if it is given an invalid name. These checks call libdbus's own validators, so the two
/// can never disagree.
enum NameRules {
  static func requireBusName(_ name: String) throws(BusError) {
    try require(name, "bus name") { dbus_validate_bus_name($0, nil) }
  }

  static func requireInterface(_ name: String) throws(BusError) {
    try require(name, "interface name") { dbus_validate_interface($0, nil) }
  }

  static func requireMember(_ name: String) throws(BusError) {
    try require(name, "member name") { dbus_validate_member($0, nil) }
  }

  static func isErrorName(_ name: String) -> Bool {
    isWireString(name) && dbus_validate_error_name(name, nil) != 0
  }

  static func isObjectPath(_ path: String) -> Bool {
    isWireString(path) && dbus_validate_path(path, nil) != 0
  }

  static func isSignature(_ string: String) -> Bool {
    isWireString(string) && dbus_signature_validate(string, nil) != 0
  }

  /// Whether `string` can be a D-Bus string: any Unicode text without U+0000. A Swift string is always valid UTF-8.
  static func isWireString(_ string: String) -> Bool {
    let contains = string.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
    return !(contains ?? string.utf8.contains(0))
  }

  private static func require(
    _ name: String, _ what: String, _ isValid: (UnsafePointer<CChar>) -> dbus_bool_t
  ) throws(BusError) {
    guard isWireString(name), name.withCString(isValid) != 0 else {
      throw .invalidValue("\(name.debugDescription) is not a valid \(what)")
    }
  }
}
