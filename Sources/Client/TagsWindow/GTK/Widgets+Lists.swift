import CGTK
import CGTKShims

extension Widgets {
  /// A row that others are in.
  static func expander(_ title: String) -> Kept {
    let row = Kept(adw_expander_row_new())
    adw_preferences_row_set_use_markup(row.cast(), 0)
    adw_preferences_row_set_title(row.cast(), title)
    gtk_widget_set_overflow(row.widget, GTK_OVERFLOW_HIDDEN)
    // Only the line with the title takes its name from it.
    tags_set_accessible_name(row.raw, title)
    nameLists(in: row.widget, title)
    return row
  }

  /// Gives a name to the lists inside a widget of libadwaita, which have only that of their class.
  static func nameLists(in widget: UnsafeMutablePointer<GtkWidget>, _ name: String) {
    for child in children(widget) {
      let isList = isA(child, gtk_list_box_get_type()) || isA(child, gtk_list_view_get_type())
      if isList { tags_set_accessible_name(child, name) }
      nameLists(in: child, name)
    }
  }

  /// A row with a list to choose from.
  static func choices(_ title: String) -> Kept {
    let row = Kept(adw_combo_row_new())
    adw_preferences_row_set_use_markup(row.cast(), 0)
    adw_preferences_row_set_title(row.cast(), title)
    gtk_widget_set_overflow(row.widget, GTK_OVERFLOW_HIDDEN)
    nameLists(in: row.widget, title)
    return row
  }

  private static func isA(_ widget: UnsafeMutablePointer<GtkWidget>, _ type: GType) -> Bool {
    widget.withMemoryRebound(to: GTypeInstance.self, capacity: 1) { g_type_check_instance_is_a($0, type) != 0 }
  }

  /// The sign for a mistake, with a name for who does not see it.
  static func warning(_ name: String) -> Kept {
    let image = Kept(gtk_image_new_from_icon_name("dialog-warning-symbolic"))
    tags_set_accessible_name(image.raw, name)
    gtk_widget_add_css_class(image.widget, "warning")
    return image
  }

  /// A list of texts to choose from.
  static func strings(_ texts: [String]) -> Kept {
    let list = Kept(adopting: gtk_string_list_new(nil))
    for text in texts { gtk_string_list_append(list.opaque, text) }
    return list
  }

  /// The text in a field.
  static func text(_ field: Kept) -> String { gtk_editable_get_text(field.opaque).map { String(cString: $0) } ?? "" }

  /// For the label of an item of a menu, in which an underscore marks a key.
  static func menuLabel(_ text: String) -> String {
    text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
  }
}
