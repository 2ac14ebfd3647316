internal import CDBus
internal import Glibc

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
