import Bus
import Glibc
import Handlers
import Journal
import Names
import Notifications
import Routing
import UniversalLinks

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

  /// The refusal is nil if the daemon has accepted the agent, or there is no daemon.
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

/// Why a tag is not opened. It does not show the tag's contents.
enum ObstacleNotice {
  /// All of them share this key, so the next one replaces the last one.
  static let key = NotificationKey("refused link")

  static func notification(_ obstacle: TapOffer.Obstacle) -> Notification {
    switch obstacle {
    case .refused(let refusal):
      .notice(Messages.refusedLink, Messages.whyRefused(refusal), category: "x-tagroute.link")
    case .damaged: .notice(Messages.damagedTag, Messages.whyDamaged, category: "x-tagroute.link")
    }
  }
}

extension Notification {
  /// Belongs to no tap. A click only closes it.
  static func notice(
    _ title: String, _ text: String, category: String, timeout: Int32 = -1
  ) -> Notification {
    Notification(
      applicationName: Messages.applicationName, summary: DisplayText(title), body: DisplayText(text, lines: .max),
      bodyWithoutActions: DisplayText(""),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.close), buttons: [],
      category: category, timeout: timeout)
  }
}

/// Why a tag opens as before, after “Always open at once” or “Ask next time”.
enum AlwaysNotice {
  /// All of them share this key, so the next one replaces the last one.
  static let key = NotificationKey("always rule")

  /// The file of the rules cannot be changed.
  static func failed(_ file: String) -> Notification {
    .notice(Messages.notSaved, Messages.cannotChange(DisplayText(file, limit: 200)), category: "x-tagroute.rule")
  }

  /// A person wrote the rule.
  static func written(_ rule: TapRule) -> Notification {
    let name = DisplayText(TapOffer.withoutQuotationMarks(rule.name), limit: 60)
    let place = DisplayText("\(rule.file):\(rule.line)", limit: 200)
    return .notice(Messages.notSaved, Messages.changeRule(name, at: place), category: "x-tagroute.rule")
  }
}

/// Shows which computer this is, among several that look alike.
enum IdentifyNotice {
  /// All of them share this key, so the next one replaces the last one.
  static let key = NotificationKey("identify")

  static func notification() -> Notification {
    .notice(
      Messages.thisIs(DisplayText(hostName(), limit: 64)), Messages.askedToIdentify, category: "x-tagroute.identify")
  }

  private static func hostName() -> String {
    // The limit of Linux is 64 bytes (gethostname(2)). The last byte stays 0.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65) { buffer -> String in
      buffer.initialize(repeating: 0)
      guard let base = buffer.baseAddress, gethostname(base, 64) == 0 else { return "" }
      return String(cString: base)
    }
  }
}
