import CGTK
import CGTKShims
import TagsPages

/// The rows of the list. GTK makes about two hundred of them and fills them with the taps that are near.
final class TapListView {
  private let view: Kept
  private let scrolled: Kept
  /// The ids of the taps, in order.
  private let ids: Kept
  private let selection: Kept
  private var rows: [String: TapRow] = [:]
  /// The names of the apps by their ids.
  var names: [String: String] = [:] {
    didSet {
      guard names != oldValue else { return }
      // GTK fills the rows again. The selection finds its tap among the new ones.
      let count = g_list_model_get_n_items(ids.opaque)
      g_list_model_items_changed(ids.opaque, 0, count, count)
    }
  }
  /// Gets the tap that the user selects.
  var selected: (TapRow?) -> Void = { _ in }
  /// Called when the last tap is nearly visible.
  var endReached: () -> Void = {}

  init(_ builder: Builder) {
    view = builder["list"]
    scrolled = builder["scrolled"]
    ids = Kept(adopting: gtk_string_list_new(nil))
    selection = Kept(adopting: gtk_single_selection_new(ids.added))
    gtk_single_selection_set_autoselect(selection.opaque, 0)
    gtk_single_selection_set_can_unselect(selection.opaque, 1)
    let factory = Kept(adopting: gtk_signal_list_item_factory_new())
    factory.on("setup") { [weak self] values in values.object(1).map { self?.setUp(OpaquePointer($0)) } }
    factory.on("bind") { [weak self] values in values.object(1).map { self?.bind(OpaquePointer($0)) } }
    gtk_list_view_set_factory(view.opaque, factory.opaque)
    gtk_list_view_set_model(view.opaque, selection.opaque)
    selection.on("notify::selected-item") { [weak self] in self.map { $0.selected($0.selectedRow) } }
    leaveByTab(to: builder)
    adjustment.map { Kept($0) }?.on("value-changed") { [weak self] in self?.scroll() }
  }

  var selectedRow: TapRow? {
    gtk_single_selection_get_selected_item(selection.opaque).flatMap { rows[text($0)] }
  }

  var isAtTop: Bool { gtk_adjustment_get_value(adjustment) < 1 }

  func scrollToTop() { gtk_adjustment_set_value(adjustment, 0) }

  private var adjustment: UnsafeMutablePointer<GtkAdjustment>? { gtk_scrolled_window_get_vadjustment(scrolled.opaque) }

  /// Selects the tap with this id. Returns false if it is not in the list.
  func select(_ id: String) -> Bool {
    guard let position = (0..<g_list_model_get_n_items(ids.opaque)).first(where: { self.id(at: $0) == id }) else {
      return false
    }
    gtk_single_selection_set_selected(selection.opaque, position)
    return true
  }

  func splice(at position: Int, removed: Int, added: [TapRow]) {
    let wasAtTop = isAtTop
    let gone = (position..<position + removed).compactMap { id(at: UInt32($0)) }
    for row in added { rows[row.id] = row }
    let texts = added.map { strdup($0.id) }
    defer { for text in texts { free(text) } }
    var pointers = texts.map { $0.map { UnsafePointer($0) } } + [nil]
    gtk_string_list_splice(ids.opaque, UInt32(position), UInt32(removed), &pointers)
    let kept = Set(added.map(\.id))
    for id in gone where !kept.contains(id) { rows[id] = nil }
    // GTK keeps the visible rows in their place, so a new one at the top would be above them.
    if position == 0, wasAtTop { scrollToTop() }
  }

  func focus() { gtk_widget_grab_focus(view.widget) }

  private func id(at position: UInt32) -> String? {
    gtk_string_list_get_string(ids.opaque, position).map { String(cString: $0) }
  }

  private func text(_ item: UnsafeMutableRawPointer) -> String {
    gtk_string_object_get_string(OpaquePointer(item)).map { String(cString: $0) } ?? ""
  }

  private func setUp(_ item: OpaquePointer) {
    let box = Kept(gtk_box_new(GTK_ORIENTATION_VERTICAL, 2))
    gtk_widget_set_margin_top(box.widget, 6)
    gtk_widget_set_margin_bottom(box.widget, 6)
    for classes in [["heading"], ["caption"], ["caption", "dim-label"]] {
      let label = Widgets.label("", classes: classes)
      gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
      gtk_box_append(box.cast(), label.widget)
    }
    gtk_list_item_set_child(item, box.widget)
  }

  private func bind(_ item: OpaquePointer) {
    guard let object = gtk_list_item_get_item(item), let row = rows[text(object)],
      let box = gtk_list_item_get_child(item)
    else { return }
    let words = [TapWords.state(row.state), names[row.opener] ?? row.opener, DisplayTime.short(row.time)].filter {
      !$0.isEmpty
    }
    let texts = [row.title, row.place, words.joined(separator: " · ")]
    for (label, text) in zip(Widgets.children(box), texts) {
      gtk_label_set_text(OpaquePointer(label), text)
      gtk_widget_set_visible(label, text.isEmpty ? 0 : 1)
    }
    // Before GTK 4.12, a screen reader takes the name of the row from the widget that GTK has put around ours.
    gtk_widget_get_parent(box).map {
      tags_set_accessible_name($0, texts.filter { !$0.isEmpty }.joined(separator: ", "))
    }
  }

  /// In GTK 4.8, Tab goes from row to row, so the keyboard would never leave a long list.
  private func leaveByTab(to builder: Builder) {
    let keys = Kept(adopting: gtk_event_controller_key_new())
    gtk_event_controller_set_propagation_phase(keys.opaque, GTK_PHASE_CAPTURE)
    let (before, after) = (builder["search"], builder["details"])
    keys.on("key-pressed") { (values: SignalValues) in
      switch values.number(1) {
      case UInt32(GDK_KEY_Tab): values.answer(gtk_widget_child_focus(after.widget, GTK_DIR_TAB_FORWARD) != 0)
      case UInt32(GDK_KEY_ISO_Left_Tab): values.answer(gtk_widget_grab_focus(before.widget) != 0)
      default: values.answer(false)
      }
    }
    gtk_widget_add_controller(view.widget, keys.added)
  }

  private func scroll() {
    let page = gtk_adjustment_get_page_size(adjustment)
    if gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_value(adjustment) < 3 * page { endReached() }
  }
}
