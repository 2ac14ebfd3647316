import Names

/// The notifications that an earlier run of the program may have left on the screen. Each is kept until it is taken
/// over, closed, or known to be gone.
///
/// A killed program leaves its notifications up, and their buttons do not work. The next run has another connection,
/// but servers let it replace and close them:
/// - dunst (`queues_notification_replace_id`) and Plasma (`ServerPrivate::Notify`) accept a `replaces_id` from any
///   client. They send signals to the last sender, or to all clients. If the notification is no longer up, they show a
///   new one. dunst gives it the requested id.
/// - GNOME Shell refuses an id of another *connection* that is still on the bus (`_checkNotificationId`). It forgets
///   the owner of an id when the owner leaves the bus. For an unknown id it shows a new notification under a new id.
/// - `CloseNotification` follows the same rules on every server. It has no effect if there is no such notification.
///
/// An id is valid only on the server that assigned it: the same unique name on the same bus.
struct EarlierNotifications {
  private var places: [NotificationKey: NotificationPlace] = [:]
  /// Notifications to close once it is known whether the server is still the same.
  private var unwanted: Set<NotificationKey> = []

  /// Adds notifications that may be up.
  mutating func add(_ places: [NotificationKey: NotificationPlace]) {
    self.places.merge(places) { $1 }
  }

  /// Has a notification taken over under another name.
  mutating func rename(_ key: NotificationKey, to other: NotificationKey) {
    guard key != other, places[other] == nil, let place = places.removeValue(forKey: key) else { return }
    places[other] = place
    unwanted.remove(key)
  }

  /// The id that a notification takes over; nil if there is none on this server.
  mutating func take(_ key: NotificationKey, on server: NotificationServer) -> UInt32? {
    unwanted.remove(key)
    guard let place = places.removeValue(forKey: key), server.has(place) else { return nil }
    return place.id
  }

  /// Returns the notification to close now. Without a server, it is closed once the server is known.
  mutating func close(_ key: NotificationKey, on server: NotificationServer?) -> NotificationPlace? {
    guard let place = places[key] else { return nil }
    guard let server else {
      unwanted.insert(key)
      return nil
    }
    places[key] = nil
    return server.has(place) ? place : nil
  }

  /// Records the server. Returns the notifications to close, and those that have gone with an earlier server.
  mutating func meet(_ server: NotificationServer) -> (close: [NotificationPlace], gone: [NotificationPlace]) {
    let gone = places.filter { !server.has($0.value) }
    for key in gone.keys { places[key] = nil }
    let close = unwanted.compactMap { places.removeValue(forKey: $0) }
    unwanted = []
    return (close.sorted { $0.id < $1.id }, gone.values.sorted { $0.id < $1.id })
  }
}

extension NotificationServer {
  /// Whether a notification at this place is up on this server, unless it has been closed since.
  fileprivate func has(_ place: NotificationPlace) -> Bool {
    !bus.isEmpty && place.bus == bus && place.owner == owner
  }
}
