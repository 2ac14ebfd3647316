import Bus
import CGTK
import Names
import Notifications
import TagrouteClient
import TagsPages

/// “What would happen?”: a field for a tag, and below it the agent's decision with its reasons.
final class TrialPart {
  private let services: Services
  private let name: (String) -> String?
  private let group: Kept
  private let entry: Kept
  private let error: FieldError
  private var picker: TagPicker?
  private var rows: [Kept] = []
  /// What was asked about, to ask again when an app or a rule has changed.
  private var tag: TrialTag?
  private var report: TrialReport?
  /// The tag that was held to the reader or taken from the inbox.
  private var shown: PickedTag?
  /// Of the last question. The answer to an earlier one is ignored.
  private var number = 0

  /// `name` gives the name of an app.
  init(_ builder: Builder, _ services: Services, name: @escaping (_ desktopID: String) -> String?) {
    (self.services, self.name) = (services, name)
    group = builder["trial_group"]
    entry = builder["trial"]
    error = FieldError(entry)
    let picker = TagPicker(services) { [weak self] tag in self?.take(tag) }
    self.picker = picker
    adw_preferences_group_add(group.cast(), picker.widget.widget)
    for signal in ["apply", "entry-activated"] { entry.on(signal) { [weak self] in self?.ask() } }
  }

  func cancel() { picker?.cancel() }

  /// Asks the same again.
  func refresh() { if let tag { ask(tag) } }

  private func ask() {
    do throws(TrialTag.Mistake) {
      var tag = try TrialTag(typed: Widgets.text(entry))
      // It was shown, so more is known of it than its UID.
      if case .tag(let typed) = tag, let shown, shown.uid == typed.uid { tag = .tag(shown) }
      error.show(nil)
      ask(tag)
    } catch {
      show(mistake: error.text)
    }
  }

  private func take(_ tag: PickedTag) {
    shown = tag
    gtk_editable_set_text(entry.opaque, UIDText.text(tag.uid))
    error.show(nil)
    ask(.tag(tag))
  }

  private func ask(_ tag: TrialTag) {
    self.tag = tag
    number += 1
    let number = number
    Task { [weak self, services] in
      do throws(BusError) {
        let agent = try await services.agent()
        let resolution = try await Self.resolution(agent, tag)
        guard let self, self.number == number else { return }
        error.show(nil)
        show(TrialReport(resolution, name: name))
      } catch {
        guard let self, self.number == number else { return }
        show(
          mistake: error.isAway
            ? translated("The agent does not run.")
            : translated("The agent does not answer: {reason}", ["reason": error.message]))
      }
    }
  }

  @concurrent nonisolated private static func resolution(
    _ agent: AgentClient, _ tag: TrialTag
  ) async throws(BusError) -> Resolution {
    switch tag {
    case .link(let link): try await agent.resolve(link)
    case .tag(let tag):
      try await agent.resolve(
        uid: tag.uid, message: tag.message, technology: tag.technology.isEmpty ? nil : tag.technology)
    }
  }

  private func show(mistake: String) {
    error.show(DisplayText(mistake, limit: 500).string)
    removeRows()
  }

  private func show(_ report: TrialReport) {
    guard report != self.report else { return }
    removeRows()
    self.report = report
    add(Widgets.row(title: report.verdict, text: report.reason))
    for row in report.rows { add(Widgets.row(title: row.title, text: row.text)) }
    guard !report.steps.isEmpty else { return }
    // Translators: how the agent has come to its decision, step by step.
    let steps = Widgets.expander(translated("Steps"))
    for text in report.steps { adw_expander_row_add_row(steps.cast(), Widgets.row(title: text).widget) }
    add(steps)
  }

  private func add(_ row: Kept) {
    adw_preferences_group_add(group.cast(), row.widget)
    rows.append(row)
  }

  private func removeRows() {
    for row in rows { adw_preferences_group_remove(group.cast(), row.widget) }
    (rows, report) = ([], nil)
  }
}
