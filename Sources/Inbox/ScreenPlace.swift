/// One notification of one server on one bus.
///
/// A place is not reused: a bus has a new identifier after each start, and so has a server. A server reuses a number
/// only after 2^32 notifications.
public struct ScreenPlace: Sendable, Hashable {
  /// The bus's own identifier, `org.freedesktop.DBus.GetId`.
  public let bus: String
  /// The notification server's unique name on it.
  public let owner: String
  /// The number that the server gave to the notification.
  public let id: UInt32

  /// - Parameters:
  ///   - bus: the bus's own identifier.
  ///   - owner: the notification server's unique name.
  ///   - id: the number that the server gave.
  public init(bus: String, owner: String, id: UInt32) {
    self.bus = bus
    self.owner = owner
    self.id = id
  }
}
