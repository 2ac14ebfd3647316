import CGTK
import CGTKShims

/// Widgets that code makes, because their number depends on what they show. All texts are plain.
enum Widgets {
  /// A row with a title and a text below it.
  static func row(title: String, text: String = "") -> Kept {
    let row = Kept(adw_action_row_new())
    // Before the texts, which are from outside: libadwaita takes them as markup otherwise.
    adw_preferences_row_set_use_markup(row.cast(), 0)
    adw_preferences_row_set_title(row.cast(), title)
    adw_action_row_set_subtitle(row.cast(), text)
    adw_action_row_set_title_lines(row.cast(), 3)
    adw_action_row_set_subtitle_lines(row.cast(), 20)
    gtk_widget_set_overflow(row.widget, GTK_OVERFLOW_HIDDEN)
    return row
  }

  /// A boxed list with a title.
  static func group(title: String) -> Kept {
    let group = Kept(adw_preferences_group_new())
    adw_preferences_group_set_title(group.cast(), escaped(title))
    return group
  }

  static func label(_ text: String, classes: [String] = []) -> Kept {
    let label = Kept(gtk_label_new(text))
    gtk_label_set_xalign(label.opaque, 0)
    gtk_widget_set_overflow(label.widget, GTK_OVERFLOW_HIDDEN)
    for name in classes { gtk_widget_add_css_class(label.widget, name) }
    return label
  }

  /// The same on each side, in pixels.
  static func setMargins(_ widget: Kept, _ size: Int32) {
    gtk_widget_set_margin_start(widget.widget, size)
    gtk_widget_set_margin_end(widget.widget, size)
    gtk_widget_set_margin_top(widget.widget, size)
    gtk_widget_set_margin_bottom(widget.widget, size)
  }

  /// For the texts that libadwaita takes as markup.
  static func escaped(_ text: String) -> String {
    guard let escaped = g_markup_escape_text(text, -1) else { return "" }
    defer { g_free(escaped) }
    return String(cString: escaped)
  }

  /// Shows one child of a GtkStack. The others become invisible, because GTK 4.8 shows the contents of all its pages to
  /// a screen reader.
  static func show(_ name: String, in stack: Kept) {
    guard let shown = gtk_stack_get_child_by_name(stack.opaque, name) else { return }
    gtk_widget_set_visible(shown, 1)
    gtk_stack_set_visible_child(stack.opaque, shown)
    for child in children(stack.widget) where child != shown { gtk_widget_set_visible(child, 0) }
  }

  /// The children of a widget, in order.
  static func children(_ widget: UnsafeMutablePointer<GtkWidget>) -> [UnsafeMutablePointer<GtkWidget>] {
    Array(
      sequence(first: gtk_widget_get_first_child(widget)) { $0.flatMap { gtk_widget_get_next_sibling($0) } }
        .prefix { $0 != nil }.compactMap(\.self))
  }
}

/// The time as the user's desktop writes it.
nonisolated enum DisplayTime {
  /// The time for today, and the date before that. `microseconds` are since 1970-01-01 00:00 UTC.
  static func short(_ microseconds: UInt64) -> String {
    guard let now = g_date_time_new_now_local() else { return "" }
    defer { g_date_time_unref(now) }
    return text(microseconds) { time in
      let isToday =
        g_date_time_get_year(time) == g_date_time_get_year(now)
        && g_date_time_get_day_of_year(time) == g_date_time_get_day_of_year(now)
      return isToday ? "%X" : "%x"
    }
  }

  /// Date and time.
  static func long(_ microseconds: UInt64) -> String { text(microseconds) { _ in "%c" } }

  private static func text(_ microseconds: UInt64, _ format: (OpaquePointer) -> String) -> String {
    guard let time = g_date_time_new_from_unix_local(gint64(clamping: microseconds / 1_000_000)) else { return "" }
    defer { g_date_time_unref(time) }
    guard let text = g_date_time_format(time, format(time)) else { return "" }
    defer { g_free(text) }
    return String(cString: text)
  }
}
