import Bus
import Names
import Notifications

/// The notification that another program is registered instead of this agent, and receives the user's tags.
///
/// Pure: refusals in, actions out. It is shown once per episode: from the first refusal until the daemon accepts this
/// agent, or leaves. A refusal for another reason removes it, because the receiver of the tags is unknown then.
struct RegistrationNotice: Sendable {
  enum Action: Equatable {
    case show(Notification)
    case remove
  }

  static let key = NotificationKey("agent registration")

  private enum State {
    /// No episode. Can transition to `.shown`.
    case idle
    /// It was shown, and the user may have closed it. Can transition to `.removed`, `.idle`.
    case shown
    /// The daemon has refused for another reason since then. Can transition to `.idle`.
    case removed
  }

  private var state = State.idle

  /// Handles the daemon's answer. The refusal is nil if the daemon has accepted the agent, or there is no daemon.
  mutating func handle(_ refusal: BusError?) -> Action? {
    let isTaken = refusal?.name == Names.Errors.alreadyRegistered
    switch state {
    case .idle where isTaken:
      state = .shown
      return .show(
        .notice(
          Messages.anotherAgent, Messages.findAnotherAgent, category: "x-tagroute.registration", timeout: 0))
    case .shown where !isTaken:
      state = refusal == nil ? .idle : .removed
      return .remove
    case .removed where refusal == nil:
      state = .idle
      return nil
    case .idle, .shown, .removed: return nil
    }
  }
}
