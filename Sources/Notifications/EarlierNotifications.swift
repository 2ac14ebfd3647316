/// What an earlier run of the program may have left on the screen, until it is taken over, closed, or known to be gone.
///
/// A program that is killed leaves its notifications up, with buttons that nobody answers. The next run comes by another connection,
/// and servers let it have them all the same:
/// - dunst (`queues_notification_replace_id`) and Plasma (`ServerPrivate::Notify`) take a `replaces_id` from anybody, and signal to
///   whoever sent it last, or to all. One that is no longer up they show anew, dunst under the number that was asked for.
/// - GNOME Shell refuses the number of another *connection* that is still there (`_checkNotificationId`), and forgets whose it was when
///   that leaves the bus; a number that it does not know it shows anew under a new one.
/// - `CloseNotification` follows the same rules everywhere, and does nothing where there is nothing.
///
/// A number counts on the server that gave it alone: the same unique name on the same bus.
struct EarlierNotifications {
  private var places: [NotificationKey: NotificationPlace] = [:]
  /// Those that are to go, as soon as it is known whether the server is still the same.
  private var unwanted: Set<NotificationKey> = []

  /// Takes in what may be up.
  mutating func add(_ places: [NotificationKey: NotificationPlace]) {
    self.places.merge(places) { $1 }
  }

  /// What was shown under one name is to be taken over by another.
  mutating func rename(_ key: NotificationKey, to other: NotificationKey) {
    guard key != other, places[other] == nil, let place = places.removeValue(forKey: key) else { return }
    places[other] = place
    unwanted.remove(key)
  }

  /// The number that a notification takes over; nil where there is none on this server.
  mutating func take(_ key: NotificationKey, on server: NotificationServer) -> UInt32? {
    unwanted.remove(key)
    guard let place = places.removeValue(forKey: key), server.has(place) else { return nil }
    return place.id
  }

  /// Has one closed, now or as soon as the server is known.
  ///
  /// - Returns: the one to close now.
  mutating func close(_ key: NotificationKey, on server: NotificationServer?) -> NotificationPlace? {
    guard let place = places[key] else { return nil }
    guard let server else {
      unwanted.insert(key)
      return nil
    }
    places[key] = nil
    return server.has(place) ? place : nil
  }

  /// Takes in which server there is.
  ///
  /// - Returns: the notifications to close, and those that went with the server that had them.
  mutating func meet(_ server: NotificationServer) -> (close: [NotificationPlace], gone: [NotificationPlace]) {
    let gone = places.filter { !server.has($0.value) }
    for key in gone.keys { places[key] = nil }
    let close = unwanted.compactMap { places.removeValue(forKey: $0) }
    unwanted = []
    return (close.sorted { $0.id < $1.id }, gone.values.sorted { $0.id < $1.id })
  }
}

extension NotificationServer {
  /// Whether what was put there is up on this server, unless it has gone since.
  fileprivate func has(_ place: NotificationPlace) -> Bool {
    !bus.isEmpty && place.bus == bus && place.owner == owner
  }
}
