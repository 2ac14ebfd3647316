import Journal
import Notifications

/// The sheets of reader sessions.
extension AgentService {
  /// Shows sheets for a daemon from here on.
  func showSheets(of link: DaemonLink) async {
    daemon = link
    await link.setSheets { [weak self] event in await self?.handle(event) }
  }

  func handle(_ event: ReaderSheets.Event) async {
    for action in sheets.handle(event) {
      switch action {
      case .show(let notification, let key): await notifications.show(notification, as: key)
      case .remove(let key): await notifications.close(key)
      case .cancel(let session): await daemon?.cancelReaderSession(session)
      }
    }
  }

  /// Takes in what became of a sheet's notification.
  ///
  /// - Returns: whether it was one.
  func handleSheet(_ event: NotificationEvent) async -> Bool {
    switch event {
    case .shown(let key, let place):
      guard ReaderSheets.isSheet(key) else { return false }
      await putOtherOnScreen(at: place)
      log(.debug, "the sheet of a reader session is shown")
      return true
    case .refused(let key, reason: _): return ReaderSheets.isSheet(key)
    case .closed(let key, _):
      guard ReaderSheets.isSheet(key) else { return false }
      await handle(.dismissed(key))
      return true
    case .activated(let key, let action, _):
      guard ReaderSheets.isSheet(key) else { return false }
      await handle(.activated(key, action: action))
      return true
    case .gone, .serverChanged: return false
    }
  }
}
