import Names
import Notifications
import Records
package import TagrouteClient
import UniversalLinks

/// The tag of “What would happen with …?”.
package enum TrialTag: Sendable, Hashable {
  /// A tag with this link alone.
  case link(String)
  case tag(PickedTag)

  /// What is wrong with the typed text, for the place beside it.
  package struct Mistake: Error, Sendable, Hashable {
    package let text: String
  }

  /// A UID, or a link as a person types it.
  package init(typed text: String) throws(Mistake) {
    let text = text.trimmed
    if let uid = UIDText.bytes(text) {
      self = .tag(PickedTag(uid: uid, technology: "", message: nil))
      return
    }
    do throws(RecordDraftError) {
      self = .link(try TypedLink.uri(text).string)
    } catch {
      throw Mistake(text: DisplayText(error.message, limit: 500).string)
    }
  }
}

/// What a tag would do, and why. All texts are safe to show.
package struct TrialReport: Sendable, Hashable {
  package let verdict: String
  /// A sentence of the agent.
  package let reason: String
  package let rows: [TapDetails.Row]
  /// At most ``mostSteps``, in the order of the decision.
  package let steps: [String]

  package static let mostSteps = 100

  /// `name` gives the name of an app.
  package init(_ resolution: Resolution, name: (_ desktopID: String) -> String?) {
    let title = { (id: String) in AppEntry.title(id, name(id)) }
    let app = resolution.handler.map(title)
    let rule = resolution.rule.map { DisplayText($0, limit: 60).string }
    verdict = Self.verdict(resolution, app, rule)
    reason = DisplayText(resolution.reason, limit: 500).string
    steps = resolution.explanation.prefix(Self.mostSteps).map { DisplayText($0, limit: 500).string }
    var rows: [TapDetails.Row] = []
    func add(_ title: String, _ text: String) { rows.append(TapDetails.Row(title: title, text: text)) }
    if let question = Self.question(resolution) { add(translated("Question"), question) }
    let asksWhich = resolution.question == "which"
    let others = resolution.candidates.filter { asksWhich || $0 != resolution.handler }.prefix(10).map(title)
    if !others.isEmpty {
      add(asksWhich ? translated("Apps") : translated("Other apps"), others.joined(separator: ", "))
    }
    if let rule { add(translated("Rule"), rule) }
    self.rows = rows
  }

  private static func verdict(_ resolution: Resolution, _ app: String?, _ rule: String?) -> String {
    switch (resolution.kind, resolution.action) {
    case ("refused", _): return translated("Nothing opens this link")
    case ("wifi", _): return translated("Offers to join the network")
    case (_, "run"?): return translated("Runs a program")
    case (_, "show"?): return translated("Shows what is on the tag")
    case (_, "ignore"?): return translated("Ignores the tag")
    default: break
    }
    if resolution.question == "which" { return translated("Asks which app to open") }
    if let app { return translated("Opens {app}", ["app": app]) }
    return ["default", "record-default"].contains(resolution.kind)
      ? translated("Opens the default app") : translated("Opens no app")
  }

  /// Nil if nothing happens that a question could come before, and if the verdict is the question.
  private static func question(_ resolution: Resolution) -> String? {
    guard resolution.kind != "refused", resolution.kind != "none" else { return nil }
    if ["show", "ignore"].contains(resolution.action) { return nil }
    guard resolution.asks else { return translated("None: it happens without a click") }
    switch resolution.question {
    case "which": return nil
    case "whether-allowed": return translated("The notification asks whether the app may open it")
    default: return translated("None but the click on the notification")
    }
  }
}
