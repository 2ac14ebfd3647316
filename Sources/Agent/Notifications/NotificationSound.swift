/// The sound of a notification, on a server that plays sounds.
package enum NotificationSound: Sendable, Hashable {
  /// None, even if the server plays a sound for every other notification.
  case silent
  /// Something has arrived.
  case arrival
  /// Something has failed. It must not sound like an arrival.
  case failure
  /// This sound of the Sound Naming Specification, in place of that of an arrival.
  case named(String)

  /// The name in the Sound Naming Specification 0.1; nil for silence.
  package var name: String? {
    switch self {
    case .silent: nil
    case .arrival: "message-new-instant"
    case .failure: "dialog-error"
    case .named(let name): name
    }
  }
}
