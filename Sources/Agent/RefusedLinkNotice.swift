import Notifications
import UniversalLinks

/// The notification that the link on a tag is not opened, and why. It says nothing of what is on the tag.
enum RefusedLinkNotice {
  /// One for all: the next takes its place.
  static let key = NotificationKey("refused link")

  /// - Parameter refusal: what is wrong with the link; nil if it cannot be decoded.
  /// - Returns: what to show.
  static func notification(_ refusal: URIError.Code?) -> Notification {
    .notice(Messages.refusedLink, Messages.whyRefused(refusal), category: "x-tagroute.link")
  }
}

extension Notification {
  /// A notification that belongs to no tap, and that a click only closes.
  static func notice(
    _ title: String, _ text: String, category: String, timeout: NotificationTimeout = .server
  ) -> Notification {
    Notification(
      applicationName: Messages.applicationName, summary: DisplayText(title), body: DisplayText(text),
      bodyWithoutActions: DisplayText(""),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.close), buttons: [],
      category: category, timeout: timeout)
  }
}
