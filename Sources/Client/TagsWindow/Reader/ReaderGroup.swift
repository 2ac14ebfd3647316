import CGTK
import CGTKShims
import TagsPages

/// The rows of one reader. They stay while only their texts change, so that the focus stays too.
final class ReaderGroup {
  let widget = Kept(adw_preferences_group_new())
  private var rows: [Kept] = []
  private var titles: [String] = []
  private var counters: [Kept] = []
  private var counterTitles: [String] = []
  // Translators: how often a reader has read tags, and the like.
  private let expander = Widgets.expander(translated("Counters"))
  private let loan = Widgets.row(title: translated("Lend to another program"))
  private let button = Kept(gtk_button_new())
  private var isHeld = false

  /// `changed` is called when the user lends the reader or takes it back.
  init(changed: @escaping (_ isLent: Bool) -> Void) {
    gtk_widget_set_valign(button.widget, GTK_ALIGN_CENTER)
    adw_action_row_add_suffix(loan.cast(), button.widget)
    button.on("clicked") { [weak self] in self.map { changed(!$0.isHeld) } }
  }

  func show(_ reader: ReaderSummary) {
    adw_preferences_group_set_title(widget.cast(), Widgets.escaped(reader.name))
    if reader.rows.map(\.title) != titles { rebuild(reader.rows) }
    for (row, widget) in zip(reader.rows, rows) { adw_action_row_set_subtitle(widget.cast(), row.text) }
    if reader.counters.map(\.title) != counterTitles { rebuild(counters: reader.counters) }
    for (row, widget) in zip(reader.counters, counters) { adw_action_row_set_subtitle(widget.cast(), row.text) }
    gtk_widget_set_visible(expander.widget, counters.isEmpty ? 0 : 1)
    adw_action_row_set_subtitle(loan.cast(), reader.loanText)
    isHeld = reader.loan == .held
    let label = isHeld ? translated("Take Back") : translated("Lend")
    gtk_button_set_label(button.cast(), label)
    tags_set_accessible_name(button.raw, "\(label): \(reader.name)")
    gtk_widget_set_sensitive(button.widget, [.possible, .held].contains(reader.loan) ? 1 : 0)
  }

  private func rebuild(_ parts: [ReaderSummary.Row]) {
    for row in rows { adw_preferences_group_remove(widget.cast(), row.widget) }
    if !rows.isEmpty { for last in [expander, loan] { adw_preferences_group_remove(widget.cast(), last.widget) } }
    titles = parts.map(\.title)
    rows = titles.map { Widgets.row(title: $0) }
    for row in rows + [expander, loan] { adw_preferences_group_add(widget.cast(), row.widget) }
  }

  private func rebuild(counters parts: [ReaderSummary.Row]) {
    for row in counters { adw_expander_row_remove(expander.cast(), row.widget) }
    counterTitles = parts.map(\.title)
    counters = counterTitles.map { Widgets.row(title: $0) }
    for row in counters { adw_expander_row_add_row(expander.cast(), row.widget) }
  }
}
