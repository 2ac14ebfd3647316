internal import CDBus
internal import Glibc

/// Where a bus listens ("Server Addresses" in the D-Bus specification).
public struct BusAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as text, for example `unix:path=/run/user/1000/bus`.
  public let string: String

  /// - Parameter string: an address. It is checked only when a connection is opened.
  public init(_ string: String) {
    self.string = string
  }

  /// The text itself.
  public var description: String { string }

  /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, by default the well-known socket.
  public static var system: BusAddress {
    BusAddress(environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/var/run/dbus/system_bus_socket")
  }

  /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, by default the user bus in `$XDG_RUNTIME_DIR`, or in the directory
  /// that systemd uses for it.
  public static var session: BusAddress {
    if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return BusAddress(address) }
    return socket((environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())") + "/bus")
  }

  /// The bus that listens on the socket at `path`.
  public static func socket(_ path: String) -> BusAddress {
    guard let escaped = dbus_address_escape_value(path) else { return BusAddress("unix:path=\(path)") }
    defer { dbus_free(escaped) }
    return BusAddress("unix:path=\(String(cString: escaped))")
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
