/// The place of a notification: a bus, a server on it, and the id that the server assigned.
public struct NotificationPlace: Sendable, Hashable {
  /// The bus's own identifier, `org.freedesktop.DBus.GetId`; empty if the bus did not report it.
  public let bus: String
  /// The server's unique name on that bus.
  public let owner: String
  /// The reply to `Notify`.
  public let id: UInt32

  /// - Parameters:
  ///   - bus: the bus's own identifier.
  ///   - owner: the server's unique name.
  ///   - id: the reply to `Notify`.
  public init(bus: String, owner: String, id: UInt32) {
    self.bus = bus
    self.owner = owner
    self.id = id
  }
}
