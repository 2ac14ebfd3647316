internal import CDBus
internal import EventLoop

/// A libdbus connection on its way from the thread that opened it to the loop that will own it.
///
/// libdbus connects its socket synchronously, and a bus that does not accept would block the loop. So a separate thread
/// connects. Releasing this object without `take` closes the connection.
final class OpenedConnection: Sendable {
  /// Safe: it is written once before the object is shared. Only `take` on the loop, or `deinit` in the last owner,
  /// clears it.
  nonisolated(unsafe) private var connection: OpaquePointer?

  private init(_ connection: OpaquePointer) {
    self.connection = connection
  }

  /// Connects on a separate thread. `loop` calls `completion`.
  static func open(
    _ address: BusAddress, thenOn loop: EventLoop,
    _ completion: @escaping @Sendable (Result<OpenedConnection, BusError>) -> Void
  ) {
    do throws(SystemError) {
      try DedicatedThread.start {
        let result = connect(address)
        loop.execute { completion(result) }
      }
    } catch {
      loop.execute { completion(.failure(.failed("cannot connect to the bus at \(address): \(error)"))) }
    }
  }

  private static func connect(_ address: BusAddress) -> Result<OpenedConnection, BusError> {
    guard NameRules.isWireString(address.string) else {
      return .failure(.invalidValue("the bus address contains U+0000"))
    }
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    guard let connection = dbus_connection_open_private(address.string, &error) else {
      let name = error.name.map { String(cString: $0) } ?? BusError.Name.noServer
      let reason = error.message.map { String(cString: $0) } ?? "no reason given"
      return .failure(BusError(name: name, message: "cannot connect to the bus at \(address): \(reason)"))
    }
    return .success(OpenedConnection(connection))
  }

  /// Passes ownership of the connection to the caller. Call it once.
  func take() -> OpaquePointer {
    guard let taken = connection else { preconditionFailure("a connection is taken once") }
    connection = nil
    return taken
  }

  deinit {
    guard let connection else { return }
    dbus_connection_close(connection)
    dbus_connection_unref(connection)
  }
}
