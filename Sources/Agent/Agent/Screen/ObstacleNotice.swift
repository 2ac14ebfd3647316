import Notifications
import UniversalLinks

/// The notification that says why a tag is not opened. It does not show the tag's contents.
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
  /// A notification that belongs to no tap. A click only closes it.
  static func notice(
    _ title: String, _ text: String, category: String, timeout: Int32 = -1
  ) -> Notification {
    Notification(
      applicationName: Messages.applicationName, summary: DisplayText(title), body: DisplayText(text),
      bodyWithoutActions: DisplayText(""),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.close), buttons: [],
      category: category, timeout: timeout)
  }
}
