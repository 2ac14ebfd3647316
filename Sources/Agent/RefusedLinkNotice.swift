import Notifications
import UniversalLinks

/// The notification that the link on a tag is not opened, and why. It says nothing of what is on the tag.
enum RefusedLinkNotice {
  /// One for all: the next takes its place.
  static let key = NotificationKey("refused link")

  /// - Parameter refusal: what is wrong with the link; nil if it cannot be decoded.
  /// - Returns: what to show.
  static func notification(_ refusal: URIError.Code?) -> Notification {
    Notification(
      applicationName: Messages.applicationName, summary: DisplayText(Messages.refusedLink),
      body: DisplayText(Messages.whyRefused(refusal)), bodyWithoutActions: DisplayText(""),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.close), buttons: [],
      category: "x-tagroute.link")
  }
}
