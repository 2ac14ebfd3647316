/// Where a notification is: on one bus, at one server, under the number that this has given it.
public struct NotificationPlace: Sendable, Hashable {
  /// The bus's own identifier, `org.freedesktop.DBus.GetId`; empty where the bus did not say.
  public let bus: String
  /// The server's unique name on it.
  public let owner: String
  /// What `Notify` answered.
  public let id: UInt32

  /// - Parameters:
  ///   - bus: the bus's own identifier.
  ///   - owner: the server's unique name.
  ///   - id: what `Notify` answered.
  public init(bus: String, owner: String, id: UInt32) {
    self.bus = bus
    self.owner = owner
    self.id = id
  }
}
