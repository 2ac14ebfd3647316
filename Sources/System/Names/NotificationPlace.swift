/// The place of a notification: a bus, a server on it, and the id that the server assigned.
///
/// A place is not reused: a bus has a new identifier after each start, and so has a server. A server reuses a number
/// only after 2^32 notifications.
package struct NotificationPlace: Sendable, Hashable {
  /// The bus's own identifier, `org.freedesktop.DBus.GetId`; empty if the bus did not report it.
  package let bus: String
  /// The server's unique name on that bus.
  package let owner: String
  /// The reply to `Notify`.
  package let id: UInt32

  package init(bus: String, owner: String, id: UInt32) {
    self.bus = bus
    self.owner = owner
    self.id = id
  }
}
