import Journal
import Notifications

extension AgentService {
  /// Cancels sessions through this link from now on.
  func setDaemon(_ link: DaemonLink) { daemon = link }

  func handle(_ event: ReaderSheets.Event) async {
    for action in sheets.handle(event) {
      switch action {
      case .show(let notification, let key): await notifications.show(notification, as: key)
      case .remove(let key): await notifications.close(key)
      case .cancel(let session): await daemon?.cancelReaderSession(session)
      }
    }
  }

  private static let otherNotices = [
    RegistrationNotice.key, ObstacleNotice.key, AlwaysNotice.key, IdentifyNotice.key,
  ]

  /// Whether a notification shows no tap. A click on a notice only closes it.
  private static func showsNoTap(_ key: NotificationKey) -> Bool {
    ReaderSheets.isSheet(key) || otherNotices.contains(key)
  }

  /// Handles the event of a notification that shows no tap. Returns false for the event of a tap's notification.
  func handleSheet(_ event: NotificationEvent) async -> Bool {
    switch event {
    case .shown(let key, let place):
      guard Self.showsNoTap(key) else { return false }
      await putOtherOnScreen(at: place)
      if ReaderSheets.isSheet(key) { log(.debug, "the sheet of a reader session is shown") }
      return true
    case .refused(let key, reason: _): return Self.showsNoTap(key)
    case .closed(let key, _):
      guard Self.showsNoTap(key) else { return false }
      await handle(.dismissed(key))
      return true
    case .activated(let key, let action, _):
      guard Self.showsNoTap(key) else { return false }
      await handle(.activated(key, action: action))
      return true
    case .gone, .serverChanged, .soundDue: return false
    }
  }
}
