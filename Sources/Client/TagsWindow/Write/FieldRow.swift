import CGTK
import CGTKShims
import TagsPages

/// A text of a record, in a row of its own, with what is wrong in it in the row below.
final class FieldRow {
  enum Style {
    case line
    case secret
    /// Several lines.
    case paragraph
  }

  /// In the order of the list.
  var rows: [Kept] { [row, mistake.row] }
  private let row: Kept
  /// What has the focus while the user types.
  private let input: Kept
  /// A GtkEditable, or the GtkTextBuffer of a paragraph.
  private let text: Kept
  private let style: Style
  private let mistake = MistakeRow()

  /// `left` is called when the focus leaves the row.
  init(_ title: String, _ style: Style, changed: @escaping (String) -> Void, left: @escaping () -> Void) {
    self.style = style
    switch style {
    case .line, .secret:
      row = Kept(style == .secret ? adw_password_entry_row_new() : adw_entry_row_new())
      adw_preferences_row_set_use_markup(row.cast(), 0)
      adw_preferences_row_set_title(row.cast(), title)
      text = row
      input = gtk_editable_get_delegate(row.opaque).map { Kept($0) } ?? row
      if style == .secret { nameButtons(in: row.widget) }
    case .paragraph:
      row = Kept(adw_preferences_row_new())
      input = Kept(gtk_text_view_new())
      text = Kept(gtk_text_view_get_buffer(input.cast()))
      layOutParagraph(title)
    }
    tags_set_accessible_name(input.raw, title)
    text.on("changed") { [weak self] in self.map { changed($0.value) } }
    let focus = Kept(adopting: gtk_event_controller_focus_new())
    focus.on("leave", left)
    gtk_widget_add_controller(row.widget, focus.added)
  }

  /// libadwaita gives the button that shows a password no name.
  private func nameButtons(in widget: UnsafeMutablePointer<GtkWidget>) {
    for child in Widgets.children(widget) {
      let isButton = child.withMemoryRebound(to: GTypeInstance.self, capacity: 1) {
        g_type_check_instance_is_a($0, gtk_button_get_type()) != 0
      }
      isButton ? tags_set_accessible_name(child, translated("Show the Password")) : nameButtons(in: child)
    }
  }

  private func layOutParagraph(_ title: String) {
    let label = Widgets.label(title, classes: ["caption", "dim-label"])
    gtk_text_view_set_wrap_mode(input.cast(), GTK_WRAP_WORD_CHAR)
    // Tab leads to the next field.
    gtk_text_view_set_accepts_tab(input.cast(), 0)
    gtk_widget_set_size_request(input.widget, -1, 60)
    gtk_widget_add_css_class(input.widget, "field")
    let box = Kept(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6))
    for child in [label, input] { gtk_box_append(box.cast(), child.widget) }
    Widgets.setMargins(box, 12)
    gtk_list_box_row_set_child(row.cast(), box.widget)
    gtk_list_box_row_set_activatable(row.cast(), 0)
    gtk_widget_set_focusable(row.widget, 0)
  }

  var value: String {
    guard style == .paragraph else { return gtk_editable_get_text(text.opaque).map { String(cString: $0) } ?? "" }
    var (start, end) = (GtkTextIter(), GtkTextIter())
    gtk_text_buffer_get_bounds(text.cast(), &start, &end)
    guard let value = gtk_text_buffer_get_text(text.cast(), &start, &end, 0) else { return "" }
    defer { g_free(value) }
    return String(cString: value)
  }

  func set(_ value: String) {
    guard value != self.value else { return }
    if style == .paragraph {
      gtk_text_buffer_set_text(text.cast(), value, -1)
    } else {
      gtk_editable_set_text(text.opaque, value)
    }
  }

  func show(mistake words: String?) {
    mistake.show(words)
    tags_set_accessible_mistake(input.raw, words)
    let mark = words == nil ? gtk_widget_remove_css_class : gtk_widget_add_css_class
    mark(row.widget, "error")
  }

  func setVisible(_ isVisible: Bool) {
    gtk_widget_set_visible(row.widget, isVisible ? 1 : 0)
    if !isVisible { mistake.show(nil) }
  }

  func focus() { gtk_widget_grab_focus(input.widget) }
}

/// What is wrong in the row above.
final class MistakeRow {
  let row = Kept(adw_preferences_row_new())
  private let label = Widgets.label("", classes: ["error", "caption"])

  init() {
    gtk_label_set_wrap(label.opaque, 1)
    gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
    Widgets.setMargins(label, 12)
    gtk_list_box_row_set_child(row.cast(), label.widget)
    gtk_list_box_row_set_activatable(row.cast(), 0)
    gtk_widget_set_focusable(row.widget, 0)
    gtk_widget_set_visible(row.widget, 0)
  }

  /// Nil hides the row.
  func show(_ words: String?) {
    gtk_label_set_text(label.opaque, words ?? "")
    gtk_widget_set_visible(row.widget, words == nil ? 0 : 1)
  }
}
