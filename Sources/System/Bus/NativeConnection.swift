internal import CDBus
internal import EventLoop

/// One libdbus connection, from opening to closing. Owns the pointer.
///
/// Messages are taken with `pop` and never dispatched. No filter, pending call or object path is ever registered with
/// libdbus. So libdbus calls back only for watches and for its dispatch status, and has no time-outs to serve.
///
/// Ownership: this object holds the only reference to the `DBusConnection`, which is private, so that this object may
/// close it. libdbus holds one reference each to `watches` and `relay`. `close` removes the callbacks, and libdbus then
/// drops these references with the release functions that were passed in. After `close`, libdbus has no pointer into
/// this process's objects.
///
/// Used only on the loop. Not Sendable, so the compiler keeps it inside the actor that owns it.
final class NativeConnection {
  private let connection: OpaquePointer
  private let watches: Watches
  private let relay: DispatchStatusRelay
  private var isClosed = false

  /// The limit on descriptors in received messages that are not freed yet. At the limit, libdbus stops reading from the
  /// socket. We keep no descriptors, but a process has 1,024 by default, and a sender can attach many to each message.
  private static let maximumReceivedDescriptors = 256

  /// Descriptors that one message may carry: as many as the kernel passes (`SCM_MAX_FD` of unix(7)). libdbus accepts 16 by default and
  /// closes the connection if there are more, and dbus-broker does not limit them.
  private static let maximumDescriptorsOfMessage = 253

  /// `opened` has no other user, and all calls are made on `loop`. `onReady` is called on the loop when a descriptor is
  /// ready, and must call `handle`. `onMessages` is called in the middle of other calls, so it may only schedule a
  /// later `pop`. Fails if there is not enough memory, or no file descriptor left.
  init(
    adopting opened: OpenedConnection, on loop: EventLoop,
    onReady: @escaping @Sendable (Int32) -> Void, onMessages: @escaping @Sendable () -> Void
  ) throws(BusError) {
    connection = opened.take()
    watches = Watches(on: loop, onReady: onReady)
    relay = DispatchStatusRelay(onMessages)
    dbus_connection_set_exit_on_disconnect(connection, 0)
    dbus_connection_set_max_received_unix_fds(connection, Self.maximumReceivedDescriptors)
    dbus_connection_set_max_message_unix_fds(connection, Self.maximumDescriptorsOfMessage)
    dbus_connection_set_dispatch_status_function(
      connection,
      { _, status, data in
        guard status == DBUS_DISPATCH_DATA_REMAINS, let data else { return }
        Unmanaged<DispatchStatusRelay>.fromOpaque(data).takeUnretainedValue().onMessages()
      }, Unmanaged.passRetained(relay).toOpaque(), { data in release(DispatchStatusRelay.self, data) })
    let accepted = dbus_connection_set_watch_functions(
      connection,
      { watch, data in
        guard let watch, let data else { return 0 }
        return Unmanaged<Watches>.fromOpaque(data).takeUnretainedValue().add(watch) ? 1 : 0
      },
      { watch, data in
        guard let watch, let data else { return }
        Unmanaged<Watches>.fromOpaque(data).takeUnretainedValue().remove(watch)
      },
      { watch, data in
        guard let watch, let data else { return }
        Unmanaged<Watches>.fromOpaque(data).takeUnretainedValue().toggle(watch)
      }, Unmanaged.passRetained(watches).toOpaque(), { data in release(Watches.self, data) })
    guard accepted != 0 else {
      // libdbus did not take over the watches and will not free them.
      Unmanaged.passUnretained(watches).release()
      close()
      throw .noMemory("watch the connection to the bus, or no file descriptor left for it")
    }
  }

  deinit {
    close()
  }

  /// Closes the connection. A second call has no effect.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    watches.cancel()
    dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
    dbus_connection_close(connection)
    _ = dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
    dbus_connection_unref(connection)
  }

  var isConnected: Bool { !isClosed && dbus_connection_get_is_connected(connection) != 0 }

  /// Whether the transport passes file descriptors. Known only after authentication.
  var passesFileDescriptors: Bool {
    !isClosed && dbus_connection_can_send_type(connection, Int32(TypeCode.unixFD)) != 0
  }

  /// The number of bytes that wait to be sent.
  var outgoingLength: Int { isClosed ? 0 : dbus_connection_get_outgoing_size(connection) }

  func handle(_ descriptor: Int32) {
    guard !isClosed else { return }
    watches.handle(descriptor)
  }

  /// The next received message, or nil if none waits.
  func pop() -> Message? {
    guard !isClosed, let pointer = dbus_connection_pop_message(connection) else { return nil }
    return Message(adopting: pointer)
  }

  /// Queues a message and immediately writes as much as the socket accepts. Returns the serial number that a reply will
  /// refer to.
  func send(_ message: borrowing Message) throws(BusError) -> UInt32 {
    guard isConnected else { throw .disconnected() }
    var serial: UInt32 = 0
    guard dbus_connection_send(connection, message.pointer, &serial) != 0 else { throw .noMemory("send a message") }
    return serial
  }

  /// Gives libdbus the name that Hello returned.
  func setUniqueName(_ name: String) {
    guard !isClosed else { return }
    dbus_bus_set_unique_name(connection, name)
  }
}

/// The target of the dispatch status callback.
private final class DispatchStatusRelay {
  let onMessages: @Sendable () -> Void

  init(_ onMessages: @escaping @Sendable () -> Void) {
    self.onMessages = onMessages
  }
}

private func release<T: AnyObject>(_ type: T.Type, _ data: UnsafeMutableRawPointer?) {
  guard let data else { return }
  Unmanaged<T>.fromOpaque(data).release()
}

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
