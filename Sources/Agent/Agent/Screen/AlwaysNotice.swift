import Notifications
import Routing

/// The notification that says why a tag opens as before, after “Always open this tag at once” or “Ask next time”.
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
