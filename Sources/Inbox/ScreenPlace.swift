/// Where a tap's notification was put: one notification of one server on one bus.
///
/// None of the three is ever given twice while the one before it counts: a bus has a new identifier at each start, a server a new unique
/// name at each of its own, and a server numbers its notifications anew only after four thousand million of them.
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
