import CGTK
import CGTKShims
import Notifications
import TagsPages

/// The rows for one record.
final class RecordEditor {
  enum Event {
    case typed(RecordForm.Field, String)
    /// The focus has left the field.
    case left(RecordForm.Field)
    case opened(Bool)
    case fileWanted
    case fileDropped
    /// Towards the end if positive.
    case moved(Int)
    case removed
  }

  let widget: Kept
  private let kind: RecordForm.Kind
  private let handle: (Event) -> Void
  private var fields: [RecordForm.Field: FieldRow] = [:]
  private let up: Kept
  private let down: Kept
  private var open: Kept?
  private var file: (row: Kept, drop: Kept, mistake: MistakeRow)?

  init(_ record: RecordForm, _ handle: @escaping (Event) -> Void) {
    (kind, self.handle) = (record.kind, handle)
    widget = Widgets.group(title: kind.words)
    let names = ["record": kind.words]
    up = Self.button("go-up-symbolic", translated("Move {record} Up", names)) { handle(.moved(-1)) }
    down = Self.button("go-down-symbolic", translated("Move {record} Down", names)) { handle(.moved(1)) }
    let remove = Self.button("user-trash-symbolic", translated("Remove {record}", names)) { handle(.removed) }
    let buttons = Kept(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0))
    for button in [up, down, remove] { gtk_box_append(buttons.cast(), button.widget) }
    adw_preferences_group_set_header_suffix(widget.cast(), buttons.widget)
    if RecordForm.suffixes(kind) != nil { addFile() }
    for field in RecordForm.fields(kind) { add(field, record.texts[field] ?? "") }
    if kind == .wifi { addOpen() }
  }

  private static func button(_ icon: String, _ name: String, _ pressed: @escaping () -> Void) -> Kept {
    let button = Kept(gtk_button_new_from_icon_name(icon))
    gtk_widget_add_css_class(button.widget, "flat")
    gtk_widget_set_tooltip_text(button.widget, name)
    tags_set_accessible_name(button.raw, name)
    button.on("clicked", pressed)
    return button
  }

  private func add(_ field: RecordForm.Field, _ value: String) {
    let style: FieldRow.Style = field == .text ? .paragraph : field == .passphrase ? .secret : .line
    let row = FieldRow(
      field.words(kind), style, changed: { [handle] in handle(.typed(field, $0)) },
      left: { [handle] in handle(.left(field)) })
    row.set(value)
    for row in row.rows { adw_preferences_group_add(widget.cast(), row.widget) }
    fields[field] = row
  }

  private func addOpen() {
    let row = Widgets.row(title: translated("Open network, without a password"))
    let open = Kept(gtk_switch_new())
    gtk_widget_set_valign(open.widget, GTK_ALIGN_CENTER)
    adw_action_row_add_suffix(row.cast(), open.widget)
    // This names the switch, too.
    adw_action_row_set_activatable_widget(row.cast(), open.widget)
    open.on("notify::active") { [handle, weak self] in
      self?.open.map { handle(.opened(gtk_switch_get_active($0.opaque) != 0)) }
    }
    adw_preferences_group_add(widget.cast(), row.widget)
    self.open = open
  }

  private func addFile() {
    // Translators: the file of a contact, which replaces the fields for the name and so on.
    let row = Widgets.row(title: kind == .contact ? translated("Contact from a file") : translated("File"))
    let drop = Self.button("edit-clear-symbolic", translated("Without the File")) { [handle] in handle(.fileDropped) }
    let choose = Kept(gtk_button_new_with_label(translated("Choose…")))
    tags_set_accessible_name(choose.raw, translated("Choose a File"))
    choose.on("clicked") { [handle] in handle(.fileWanted) }
    for button in [drop, choose] {
      gtk_widget_set_valign(button.widget, GTK_ALIGN_CENTER)
      adw_action_row_add_suffix(row.cast(), button.widget)
    }
    adw_action_row_set_activatable_widget(row.cast(), choose.widget)
    let mistake = MistakeRow()
    for row in [row, mistake.row] { adw_preferences_group_add(widget.cast(), row.widget) }
    file = (row, drop, mistake)
  }

  /// `mistake` gives what is wrong in a field.
  func show(
    _ record: RecordForm, isFirst: Bool, isLast: Bool, mistake: (RecordForm.Field) -> String?
  ) {
    for (field, row) in fields {
      row.set(record.texts[field] ?? "")
      row.setVisible(!(field == .passphrase && record.isOpen) && !(kind == .contact && record.file != nil))
      row.show(mistake: mistake(field))
    }
    if let file {
      let size = record.file.map { translated("{number} bytes", ["number": "\($0.contents.count)"]) }
      let name = record.file.map { DisplayText($0.name, limit: 100).string }
      adw_action_row_set_subtitle(file.row.cast(), [name, size].compactMap(\.self).joined(separator: ", "))
      gtk_widget_set_visible(file.drop.widget, kind == .contact && record.file != nil ? 1 : 0)
      file.mistake.show(mistake(.file))
    }
    open.map { gtk_switch_set_active($0.opaque, record.isOpen ? 1 : 0) }
    setEnabled(up, !isFirst, otherwise: down)
    setEnabled(down, !isLast, otherwise: up)
  }

  /// A button that is switched off cannot keep the focus.
  private func setEnabled(_ button: Kept, _ isEnabled: Bool, otherwise other: Kept) {
    let hadFocus = gtk_widget_has_focus(button.widget) != 0
    gtk_widget_set_sensitive(button.widget, isEnabled ? 1 : 0)
    if hadFocus, !isEnabled { gtk_widget_grab_focus(other.widget) }
  }

  /// Focuses this field, or the first one.
  func focus(_ field: RecordForm.Field? = nil) {
    let field = field ?? RecordForm.fields(kind).first
    if let field, let row = fields[field] {
      row.focus()
    } else {
      file.map { _ = gtk_widget_child_focus($0.row.widget, GTK_DIR_TAB_FORWARD) }
    }
  }
}
