import CGTK
import CGTKShims

/// What is wrong with a field of a form, below the field. It is empty most of the time.
final class FieldError {
  /// A row of a boxed list.
  let field: Kept
  /// In an entry's row, its text has the focus, and so a screen reader's attention.
  private let focused: Kept
  private let mistake = MistakeRow()

  /// `field` is in its list already.
  init(_ field: Kept) {
    self.field = field
    let isEntry = g_type_check_instance_is_a(field.cast(), gtk_editable_get_type()) != 0
    focused = isEntry ? gtk_editable_get_delegate(field.opaque).map { Kept($0) } ?? field : field
    Self.insert(mistake.row, below: field)
  }

  /// Nil if all is well.
  func show(_ text: String?) {
    mistake.show(text)
    tags_set_accessible_mistake(focused.raw, text)
    let mark = text == nil ? gtk_widget_remove_css_class : gtk_widget_add_css_class
    mark(field.widget, "error")
  }

  /// Puts a row into a boxed list, below another row of it.
  static func insert(_ row: Kept, below other: Kept) {
    guard let list = gtk_widget_get_parent(other.widget) else { return }
    gtk_list_box_insert(OpaquePointer(list), row.widget, gtk_list_box_row_get_index(other.cast()) + 1)
  }
}
