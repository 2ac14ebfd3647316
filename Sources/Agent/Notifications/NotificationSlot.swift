import EventLoop

/// One notification on the screen. A replacement keeps the slot and changes the key.
struct NotificationSlot {
  var key: NotificationKey
  var notification: Notification
  var phase: Phase
  /// The suffix of its buttons' keys, so that no other program can guess them.
  var keySuffix = ""
  /// Whether it was last shown without buttons, on a server that had none.
  var isMute = false
  /// Set if it has just taken the place of a notification with other actions, at which the user may still aim. The
  /// value is the serial number of the time-out that ends this, or 0 until the notification is up.
  var unseen: Int?
  /// The pauses before it is shown again after the server has refused it. Plasma refuses a repetition within one second.
  var refusalPause = Backoff(from: .milliseconds(1500), to: .seconds(96))
  /// The serial number of the time-out that it waits for. Earlier time-outs are ignored.
  var timer = 0
  /// The sound that no server has played yet.
  var sound = NotificationSound.silent

  enum Phase {
    /// Waits for a server that can show it. Can transition to: `.calling`.
    case waiting
    /// Gone from a server without buttons before the user could click. It is shown again on a server that has them. Can
    /// transition to: `.calling`, `.waiting`.
    case dormant
    /// `Notify` has no reply yet. Can transition to: `.up`, `.refused`, `.waiting` if the server goes.
    case calling(Call, then: Afterwards)
    /// Refused by the server; a timer for the retry runs. Can transition to: `.waiting`.
    case refused
    /// On the screen. Can transition to: `.calling`, `.clicked`, `.closed`, `.waiting` if the server goes.
    case up(id: UInt32, token: String?)
    /// Gone from the screen; an earlier click may still be reported. Can transition to: `.clicked`, `.dormant`,
    /// `.waiting`.
    case closed(id: UInt32, NotificationCloseReason, token: String?)
    /// Clicked; the token may still come. The slot is removed after that.
    case clicked(id: UInt32, action: String, isUp: Bool)

    /// The id in the server's signals; nil if there is none, or if the notification is being replaced.
    var id: UInt32? {
      switch self {
      case .up(let id, _), .closed(let id, _, _), .clicked(let id, _, _): id
      case .waiting, .dormant, .calling, .refused: nil
      }
    }

    /// The id of the notification that a server shows. Nil during a replacement, until the server replies.
    var idOnScreen: UInt32? {
      switch self {
      case .up(let id, _), .clicked(let id, _, isUp: true): id
      default: nil
      }
    }
  }

  /// A notification that a server shows. The notification is nil if an earlier run has shown it.
  struct Shown {
    var id: UInt32
    var notification: Notification?

    /// Whether a click on it has the same effect as on the other; false if an earlier run has shown it.
    func hasSameActions(as other: Notification) -> Bool { notification?.hasSameActions(as: other) ?? false }
  }

  /// The slot's notification, as shown under this id.
  func shown(_ id: UInt32) -> Shown { Shown(id: id, notification: notification) }

  /// An open call of `Notify`.
  struct Call {
    var number: Int
    /// The notification in the call. The slot may have another one when the reply comes.
    var key: NotificationKey
    var notification: Notification
    /// The replaced notification; nil if there is none.
    var replaced: Shown?
    /// The sound in the call. If the server does not show the notification, the next call has it again.
    var sound: NotificationSound
  }

  /// Keeps the sound of a call that has shown no notification, unless the notification has another one by now.
  mutating func keepSound(of call: Call) { if sound == .silent { sound = call.sound } }

  /// The action to take when the reply to an open `Notify` comes.
  enum Afterwards { case nothing, showAgain, remove }

  var isCalling: Bool { if case .calling = phase { true } else { false } }

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// Whether it was clicked. The click will be reported, so it can no longer be replaced or closed.
  var isClicked: Bool { if case .clicked = phase { true } else { false } }
}
