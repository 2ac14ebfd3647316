import CGTK
import TagsPages

/// A rule in the list of rules.
final class RuleRow {
  let widget: Kept
  private let remove: (_ name: String) -> Void
  private var warning: Kept?
  private var contents: [Kept] = []
  private var entry: RuleEntry

  init(_ entry: RuleEntry, remove: @escaping (_ name: String) -> Void) {
    (self.entry, self.remove) = (entry, remove)
    widget = Widgets.expander(entry.name)
    widget.on("notify::expanded") { [weak self] in self?.fill() }
    update(entry)
  }

  func update(_ entry: RuleEntry) {
    self.entry = entry
    adw_preferences_row_set_title(widget.cast(), entry.name)
    adw_expander_row_set_subtitle(widget.cast(), entry.effect)
    if warning == nil, !entry.warnings.isEmpty {
      let sign = Widgets.warning(translated("Has a warning"))
      adw_expander_row_add_prefix(widget.cast(), sign.widget)
      warning = sign
    }
    if let warning { gtk_widget_set_visible(warning.widget, entry.warnings.isEmpty ? 0 : 1) }
    for row in contents { adw_expander_row_remove(widget.cast(), row.widget) }
    contents = []
    fill()
  }

  private func fill() {
    guard contents.isEmpty, adw_expander_row_get_expanded(widget.cast()) != 0 else { return }
    for text in entry.warnings {
      let row = Widgets.row(title: text)
      adw_action_row_add_prefix(row.cast(), Widgets.warning(translated("Warning")).widget)
      add(row)
    }
    for row in entry.rows { add(Widgets.row(title: row.title, text: row.text)) }
    guard entry.canRemove else { return add(Widgets.row(title: translated("Only the administrator can change it"))) }
    let row = Kept(adw_preferences_row_new())
    gtk_list_box_row_set_activatable(row.cast(), 0)
    gtk_widget_set_focusable(row.widget, 0)
    let button = Kept(gtk_button_new_with_label(translated("Remove…")))
    gtk_widget_set_halign(button.widget, GTK_ALIGN_END)
    Widgets.setMargins(button, 12)
    button.on("clicked") { [weak self] in self.map { $0.remove($0.entry.ruleName) } }
    gtk_list_box_row_set_child(row.cast(), button.widget)
    add(row)
  }

  private func add(_ row: Kept) {
    adw_expander_row_add_row(widget.cast(), row.widget)
    contents.append(row)
  }
}
