import CGTK
import CGTKShims

/// The items in the list of an AdwComboRow or a GtkDropDown with a GtkStringList. They look as usual, and a screen
/// reader knows their names, which it does not by default before GTK 4.12.
final class ChoiceItems {
  /// GTK keeps this object as long as the chooser, so it must not keep the chooser.
  private let selected: () -> UInt32
  private var bound: [OpaquePointer] = []

  /// Names the list of the chooser and its items.
  static func name(_ chooser: Kept, _ name: String) {
    Widgets.nameLists(in: chooser.widget, name)
    let raw = chooser.raw
    let isRow = g_type_check_instance_is_a(chooser.cast(), adw_combo_row_get_type()) != 0
    let items = ChoiceItems {
      isRow
        ? adw_combo_row_get_selected(raw.assumingMemoryBound(to: AdwComboRow.self))
        : gtk_drop_down_get_selected(OpaquePointer(raw))
    }
    chooser.on("notify::selected") { items.update() }
    if isRow {
      adw_combo_row_set_list_factory(chooser.cast(), items.factory(hasMark: true).opaque)
      // The row shows the selected one in a list, too.
      adw_combo_row_set_factory(chooser.cast(), items.factory(hasMark: false).opaque)
    } else {
      gtk_drop_down_set_list_factory(chooser.opaque, items.factory(hasMark: true).opaque)
    }
  }

  private init(_ selected: @escaping () -> UInt32) { self.selected = selected }

  private func factory(hasMark: Bool) -> Kept {
    let factory = Kept(adopting: gtk_signal_list_item_factory_new())
    factory.on("setup") { values in values.object(1).map { self.setUp(OpaquePointer($0), hasMark) } }
    factory.on("bind") { values in values.object(1).map { self.bind(OpaquePointer($0), hasMark) } }
    factory.on("unbind") { values in values.object(1).map { self.unbind(OpaquePointer($0)) } }
    return factory
  }

  private func setUp(_ item: OpaquePointer, _ hasMark: Bool) {
    let box = Kept(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6))
    let label = Widgets.label("")
    gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
    gtk_label_set_width_chars(label.opaque, 1)
    gtk_label_set_max_width_chars(label.opaque, hasMark ? 40 : 20)
    gtk_widget_set_hexpand(label.widget, hasMark ? 1 : 0)
    gtk_box_append(box.cast(), label.widget)
    if hasMark { gtk_box_append(box.cast(), gtk_image_new_from_icon_name("object-select-symbolic")) }
    gtk_list_item_set_child(item, box.widget)
  }

  private func bind(_ item: OpaquePointer, _ hasMark: Bool) {
    guard let object = gtk_list_item_get_item(item), let box = gtk_list_item_get_child(item),
      let text = gtk_string_object_get_string(OpaquePointer(object))
    else { return }
    gtk_widget_get_first_child(box).map { gtk_label_set_text(OpaquePointer($0), text) }
    gtk_widget_get_parent(box).map { tags_set_accessible_name($0, text) }
    guard hasMark else { return }
    bound.append(item)
    update(item)
  }

  private func unbind(_ item: OpaquePointer) { bound.removeAll { $0 == item } }

  private func update() { for item in bound { update(item) } }

  /// The mark is at the selected one.
  private func update(_ item: OpaquePointer) {
    guard let mark = gtk_list_item_get_child(item).flatMap({ gtk_widget_get_last_child($0) }) else { return }
    gtk_widget_set_opacity(mark, gtk_list_item_get_position(item) == selected() ? 1 : 0)
  }
}
