/// A place on the screen. A replacement keeps the place and changes the key.
struct NotificationSlot {
  var key: NotificationKey
  var notification: Notification
  var phase: Phase
  /// What its buttons' keys end in on the screen, so that no other program can guess them.
  var keySuffix = ""
  /// Whether it was last shown without buttons, on a server that had none.
  var isMute = false
  /// Set if it has just taken the place of what meant something else: the user aims at that. The serial number of the time-out that ends
  /// this, 0 until it is up.
  var unseen: Int?
  /// How often in a row the server has refused it.
  var refusals = 0
  /// The serial number of the time-out that it waits for; an earlier one means nothing any more.
  var timer = 0

  enum Phase {
    /// To be shown as soon as a server can.
    case waiting
    /// Gone from a server without buttons, where nobody could click; to be shown on one that has them.
    case dormant
    /// `Notify` is under way.
    case calling(Call, then: Afterwards)
    /// Refused; a timer runs.
    case refused
    case up(id: UInt32, token: String?)
    /// Gone from the screen; a click that was made before may still be reported.
    case closed(id: UInt32, NotificationCloseReason, token: String?)
    /// Clicked; the token may still come.
    case clicked(id: UInt32, action: String, isUp: Bool)

    /// The id that the server's signals carry; nil where there is none, or where it is being replaced.
    var id: UInt32? {
      switch self {
      case .up(let id, _), .closed(let id, _, _), .clicked(let id, _, _): id
      case .waiting, .dormant, .calling, .refused: nil
      }
    }

    /// The id of what a server has on the screen; what is being replaced is nobody's until it answers.
    var idOnScreen: UInt32? {
      switch self {
      case .up(let id, _), .clicked(let id, _, isUp: true): id
      default: nil
      }
    }
  }

  /// What a server has on the screen: an id, and what it stood for; nil for what an earlier run has shown.
  struct Shown {
    var id: UInt32
    var notification: Notification?

    /// Whether a click on it means what it would mean on the other; unknown of what an earlier run has shown.
    func hasSameActions(as other: Notification) -> Bool { notification?.hasSameActions(as: other) ?? false }
  }

  /// What it has on the screen, under this id.
  func shown(_ id: UInt32) -> Shown { Shown(id: id, notification: notification) }

  /// A `Notify` that is under way.
  struct Call {
    /// Which one it is.
    var number: Int
    /// What it shows, which need not be what the slot is for by the time of the answer.
    var key: NotificationKey
    var notification: Notification
    /// In whose place; nil for a place of its own.
    var replaced: Shown?
  }

  /// What to do when the answer to a `Notify` that is under way comes.
  enum Afterwards { case nothing, showAgain, remove }

  /// Whether an answer to `Notify` is due.
  var isCalling: Bool { if case .calling = phase { true } else { false } }

  /// Whether it is to be shown as soon as a server can.
  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// Whether it was clicked: nothing replaces or closes it any more, the click will be reported.
  var isClicked: Bool { if case .clicked = phase { true } else { false } }
}
