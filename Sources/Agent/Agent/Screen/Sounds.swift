import Notifications
import Routing
import Settings

extension AgentConfiguration.Sound {
  /// The sound that the user wants for a notification with something new.
  func chosen(_ sound: NotificationSound) -> NotificationSound {
    switch self {
    case .off: .silent
    case .on: sound
    case .failures: sound == .failure ? sound : .silent
    }
  }
}

extension TapOffer {
  /// The sound of its first notification, also if that says that the tap was opened without a click.
  var sound: NotificationSound { rule?.sound.map(NotificationSound.named) ?? .arrival }
}

extension Notification {
  /// The same notification with this sound.
  func sounding(_ sound: NotificationSound) -> Notification {
    var copy = self
    copy.sound = sound
    return copy
  }
}
