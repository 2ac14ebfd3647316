import CGTK
import TagsPages

/// Rows of a boxed list that follow a list of values. A row stays as long as its value has the same id, so it keeps its
/// focus and stays expanded.
final class RowList<Entry: Hashable, ID: Hashable, Row> {
  private let group: Kept
  private let id: (Entry) -> ID
  private let widget: (Row) -> Kept
  private let make: (Entry) -> Row
  private let update: (Row, Entry) -> Void
  private var shown: [(entry: Entry, row: Row)] = []
  private var all: [Entry] = []
  /// Further rows are shown when the user asks for them, because each takes time to make.
  private var limit = 100
  private var more: Kept?

  /// `group` is an AdwPreferencesGroup, of which the rows are the last ones. No two entries have the same id.
  init(
    _ group: Kept, id: @escaping (Entry) -> ID, widget: @escaping (Row) -> Kept, make: @escaping (Entry) -> Row,
    update: @escaping (Row, Entry) -> Void
  ) {
    (self.group, self.id, self.widget, self.make, self.update) = (group, id, widget, make, update)
  }

  func show(_ entries: [Entry]) {
    all = entries
    removeMore()
    let next = entries.prefix(limit)
    let kept = zip(shown, next).prefix { id($0.entry) == id($1) }.count
    for old in shown.dropFirst(kept) { adw_preferences_group_remove(group.cast(), widget(old.row).widget) }
    var known = Dictionary(shown.map { (id($0.entry), $0) }, uniquingKeysWith: { first, _ in first })
    shown = next.enumerated().map { index, entry in
      let row: Row
      if let old = known.removeValue(forKey: id(entry)) {
        row = old.row
        if old.entry != entry { update(row, entry) }
      } else {
        row = make(entry)
      }
      if index >= kept { adw_preferences_group_add(group.cast(), widget(row).widget) }
      return (entry, row)
    }
    if entries.count > limit { addMore(entries.count - limit) }
  }

  /// Shows all rows as their values are: a control may differ because the user has just used it.
  func reset() { for (entry, row) in shown { update(row, entry) } }

  private func addMore(_ count: Int) {
    let row = Widgets.row(title: translated("{number} more", ["number": "\(count)"]))
    let button = Kept(gtk_button_new_with_label(translated("Show More")))
    gtk_widget_set_valign(button.widget, GTK_ALIGN_CENTER)
    button.on("clicked") { [weak self] in
      guard let self else { return }
      limit += 200
      show(all)
    }
    adw_action_row_add_suffix(row.cast(), button.widget)
    adw_preferences_group_add(group.cast(), row.widget)
    more = row
  }

  private func removeMore() {
    guard let row = more else { return }
    adw_preferences_group_remove(group.cast(), row.widget)
    more = nil
  }
}
