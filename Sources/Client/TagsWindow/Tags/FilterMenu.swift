import CGTK
import TagrouteClient
import TagsPages

/// The menu beside the search: which taps the list holds.
final class FilterMenu {
  /// A value of the filter, and its name in the menu.
  typealias Choice = (value: String, name: String)

  private let state: Kept
  private let app: Kept
  private let kind: Kept
  private let reader: Kept
  private var apps: [Choice] = []
  private var readers: [Choice] = []
  /// Called when the user has chosen.
  var changed: () -> Void = {}

  private static let states = TapWords.states.map { (value: $0, name: TapWords.state($0)) }
  private static let kinds = TapWords.technologies.map { (value: $0, name: TapWords.technology($0)) }

  init(_ builder: Builder) {
    state = builder["state"]
    app = builder["app"]
    kind = builder["kind"]
    reader = builder["reader"]
    offer(Self.states, in: state)
    offer(Self.kinds, in: kind)
    offer([], in: app)
    offer([], in: reader)
    for menu in [state, app, kind, reader] { menu.on("notify::selected") { [weak self] in self?.changed() } }
  }

  /// Takes the apps and readers that there are now. A chosen one stays chosen if it is still there.
  func offer(apps: [Choice], readers: [Choice]) {
    let chosen = (Self.value(self.apps, app), Self.value(self.readers, reader))
    (self.apps, self.readers) = (apps, readers)
    offer(apps, in: app, chosen: chosen.0)
    offer(readers, in: reader, chosen: chosen.1)
  }

  /// The filter, with a text to search for.
  func filter(text: String) -> InboxFilter {
    InboxFilter(
      text: text.isEmpty ? nil : text, states: Self.value(Self.states, state).map(Self.statesOnBus),
      handler: Self.value(apps, app), technology: Self.value(Self.kinds, kind), reader: Self.value(readers, reader))
  }

  /// A tap that waits has one of two states.
  private static func statesOnBus(_ state: String) -> [String] { state == "shown" ? ["received", "shown"] : [state] }

  private static func value(_ choices: [Choice], _ menu: Kept) -> String? {
    let position = Int(gtk_drop_down_get_selected(menu.opaque)) - 1
    return choices.indices.contains(position) ? choices[position].value : nil
  }

  private func offer(_ choices: [Choice], in menu: Kept, chosen: String? = nil) {
    // Translators: in the menus of the filter: every state, app, kind of tag or reader.
    let names = [translated("All")] + choices.map(\.name)
    let list = Kept(adopting: gtk_string_list_new(nil))
    for name in names { gtk_string_list_append(list.opaque, name) }
    gtk_drop_down_set_model(menu.opaque, list.opaque)
    let position = choices.firstIndex { $0.value == chosen }.map { $0 + 1 } ?? 0
    gtk_drop_down_set_selected(menu.opaque, guint(position))
  }
}
