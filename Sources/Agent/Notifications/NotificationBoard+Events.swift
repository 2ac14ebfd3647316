import Names

extension NotificationBoard {
  enum Event {
    /// The bus name has this owner now.
    case ownerChanged(String?)
    /// The owner has reported its name and its capabilities.
    case described(NotificationServer)
    /// The bus could not start a server.
    case activationFailed
    /// The caller shows a notification, in the place of `replacing` if that is still up.
    case show(NotificationKey, Notification, replacing: NotificationKey?)
    /// An earlier run may have left these on the screen. The caller shows or closes each under its name.
    case left([NotificationKey: NotificationPlace])
    case close(NotificationKey)
    case closeAll
    /// The reply to ``Action/notify(slot:call:owner:_:)``.
    case notified(slot: Int, call: Int, id: UInt32)
    /// The server refused that call.
    case refused(slot: Int, call: Int, reason: String)
    /// A signal from `sender`.
    case signal(Signal, id: UInt32, sender: String)
    /// A requested time-out has passed.
    case timeout(Timer)
  }

  enum Signal {
    case closed(reason: UInt32)
    case action(String)
    case token(String)
  }

  enum Action: Equatable {
    /// Ask the owner for its name and its capabilities.
    case describe(owner: String)
    case activateServer
    /// Call `Notify`. Return the two numbers with the reply.
    case notify(slot: Int, call: Int, owner: String, NotifyArguments)
    case closeNotification(NotificationPlace)
    /// Report that the place is empty.
    case forget(NotificationPlace)
    /// Send ``Event/timeout(_:)`` after this time.
    case wait(Timer, Duration)
    /// Report to the caller.
    case report(NotificationEvent)
  }

  /// A time-out. None is ever cancelled. Its serial number distinguishes it from older ones, which an earlier state of
  /// the slot or an earlier absence of the server has left behind.
  enum Timer: Hashable {
    case token(slot: Int, serial: Int)
    case unseen(slot: Int, serial: Int)
    case lateAction(slot: Int, serial: Int)
    case retry(slot: Int, serial: Int)
    case activation(serial: Int)
    case description(serial: Int)
  }
}
