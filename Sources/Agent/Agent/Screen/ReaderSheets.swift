import Bus
import Notifications

/// The sheets of reader sessions: one notification for each, from its beginning until shortly after its end.
///
/// Pure: events in, actions out. The client's message on a sheet is untrusted.
struct ReaderSheets: Sendable {
  enum Event: Sendable, Hashable {
    /// A session has got the reader.
    case show(ObjectPath, message: String, application: String)
    case update(ObjectPath, message: String)
    case close(ObjectPath, outcome: String, message: String)
    case activated(NotificationKey, action: String)
    case dismissed(NotificationKey)
    /// The daemon has gone, and its sessions have ended.
    case daemonGone
  }

  enum Action: Equatable {
    case show(Notification, NotificationKey)
    case remove(NotificationKey)
    case cancel(ObjectPath)
  }

  /// There is one sheet per reader, and a machine has fewer readers.
  static let most = 16
  /// Of a client's text: more lines would push the button off the screen.
  static let mostLines = 8
  /// In milliseconds, after the end of a session.
  static let farewell: Int32 = 4000
  private static let prefix = "reader-session "
  static let cancelKey = "cancel"

  private struct Sheet {
    var message: String
    let application: String
  }

  private var sheets: [ObjectPath: Sheet] = [:]

  static func isSheet(_ key: NotificationKey) -> Bool { key.rawValue.hasPrefix(prefix) }

  private static func key(_ session: ObjectPath) -> NotificationKey { NotificationKey(prefix + session.string) }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .show(let session, let message, let application):
      guard sheets[session] != nil || sheets.count < Self.most else { return [] }
      sheets[session] = Sheet(message: message, application: application)
      return present(session)
    case .update(let session, let message):
      guard let sheet = sheets[session], sheet.message != message else { return [] }
      sheets[session]?.message = message
      return present(session)
    case .close(let session, let outcome, let message):
      guard sheets.removeValue(forKey: session) != nil else { return [] }
      switch outcome {
      case "done": return [.show(Self.farewell(Messages.sessionDone, ""), Self.key(session))]
      case "error": return [.show(Self.farewell(Messages.sessionFailed, message), Self.key(session))]
      default: return [.remove(Self.key(session))]
      }
    case .activated(let key, let action):
      guard let session = sheets.keys.first(where: { Self.key($0) == key }) else { return [] }
      // A click on the sheet itself has no meaning, but some servers close the notification. So it is shown again.
      guard action == Self.cancelKey else { return present(session) }
      return [.remove(key), .cancel(session)]
    // The user has hidden the sheet. The session continues.
    case .dismissed: return []
    case .daemonGone:
      defer { sheets = [:] }
      return sheets.keys.sorted().map { .remove(Self.key($0)) }
    }
  }

  private func present(_ session: ObjectPath) -> [Action] {
    guard let sheet = sheets[session] else { return [] }
    let who = DisplayText(TapOffer.withoutQuotationMarks(sheet.application), limit: 40)
    let what = DisplayText(sheet.message, limit: 256, lines: Self.mostLines).withoutSchemes
    let text = Messages.sessionBody(application: who.withoutSchemes, message: what)
    let notification = Notification(
      applicationName: Messages.applicationName, summary: DisplayText(Messages.holdTag),
      body: DisplayText(text, limit: 320, lines: Self.mostLines),
      bodyWithoutActions: DisplayText(Messages.sessionWithoutButtons),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.showAgain),
      subject: session.string,
      buttons: [NotificationButton(key: Self.cancelKey, label: Messages.cancel)], category: "x-tagroute.session",
      urgency: .normal, timeout: 0)
    return [.show(notification, Self.key(session))]
  }

  private static func farewell(_ title: String, _ message: String) -> Notification {
    Notification(
      applicationName: Messages.applicationName, summary: DisplayText(title),
      body: DisplayText(message, limit: 256, lines: mostLines).withoutSchemes, bodyWithoutActions: DisplayText(""),
      defaultAction: NotificationButton(key: NotificationButton.defaultKey, label: Messages.close), buttons: [],
      category: "x-tagroute.session", urgency: .normal,
      timeout: farewell, isTransient: true)
  }
}
