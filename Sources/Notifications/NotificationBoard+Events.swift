/// What the board is told, and what it wants done.
extension NotificationBoard {
  /// Something that happened.
  enum Event {
    /// The bus name has this owner now.
    case ownerChanged(String?)
    /// The owner has said what it is.
    case described(NotificationServer)
    /// Starting a server by its bus name has failed.
    case activationFailed
    /// The caller wants a notification, in the place of `replacing` where that is still up.
    case show(NotificationKey, Notification, replacing: NotificationKey?)
    /// An earlier run may have left these on the screen, each to be shown or closed under its name.
    case left([NotificationKey: NotificationPlace])
    /// The caller wants it gone.
    case close(NotificationKey)
    /// The caller wants all of them gone.
    case closeAll
    /// The answer to ``Action/notify(slot:call:owner:_:)``.
    case notified(slot: Int, call: Int, id: UInt32)
    /// The same, refused.
    case refused(slot: Int, call: Int, reason: String)
    /// A signal from `sender`.
    case signal(Signal, id: UInt32, sender: String)
    /// A time-out that was asked for.
    case timeout(Timer)
  }

  /// A server's signal.
  enum Signal {
    case closed(reason: UInt32)
    case action(String)
    case token(String)
  }

  /// Something to do.
  enum Action: Equatable {
    /// Ask the owner for its name and its capabilities.
    case describe(owner: String)
    /// Have the bus start a server.
    case activateServer
    /// Call `Notify`; the two numbers come back with the answer.
    case notify(slot: Int, call: Int, owner: String, NotifyArguments)
    /// Call `CloseNotification`.
    case closeNotification(NotificationPlace)
    /// Say that nothing is there any more.
    case forget(NotificationPlace)
    /// Let ``Event/timeout(_:)`` come after this time.
    case wait(Timer, Duration)
    /// Tell the caller.
    case report(NotificationEvent)
  }

  /// What is waited for. No time-out is ever called off: the serial number tells one that is still waited for from one that
  /// an earlier state of the slot, or an earlier absence of the server, has left behind.
  enum Timer: Hashable {
    case token(slot: Int, serial: Int)
    case unseen(slot: Int, serial: Int)
    case lateAction(slot: Int, serial: Int)
    case retry(slot: Int, serial: Int)
    case activation(serial: Int)
    case description(serial: Int)
  }
}
