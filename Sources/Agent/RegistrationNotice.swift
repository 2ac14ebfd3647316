import Bus
import Names
import Notifications

/// The notification that another program is registered in the place of this agent, and receives the user's tags.
///
/// Pure: refusals in, actions out. It is shown once per episode: from the first refusal until the daemon accepts this agent, or leaves.
struct RegistrationNotice: Sendable {
  enum Action: Equatable {
    case show(Notification)
    case remove
  }

  static let key = NotificationKey("agent registration")

  /// Whether it was shown in this episode, also if the user has closed it since.
  private var wasShown = false

  /// Takes in why the daemon refuses this agent.
  ///
  /// - Parameter refusal: nil if the daemon has accepted the agent, or there is no daemon.
  /// - Returns: what to do, if anything.
  mutating func handle(_ refusal: BusError?) -> Action? {
    guard let refusal else {
      defer { wasShown = false }
      return wasShown ? .remove : nil
    }
    guard refusal.name == Names.Errors.alreadyRegistered, !wasShown else { return nil }
    wasShown = true
    return .show(
      .notice(
        Messages.anotherAgent, Messages.findAnotherAgent, category: "x-tagroute.registration", timeout: .never))
  }
}
