import CGTK
import TagsPages

/// What is going to be on the tag, and on which tags it fits.
final class WritePreview {
  private let widget: Kept
  private let lines: Kept
  private let bytes: Kept
  private let room: Kept
  private let size: Kept
  private var lineRows: [Kept] = []
  private var shown: [String] = []
  private let rooms: [(room: TagRoom, row: Kept, icon: Kept)]

  init(_ builder: Builder) {
    widget = builder["preview"]
    lines = builder["lines"]
    bytes = builder["bytes"]
    room = builder["room"]
    size = builder["size"]
    rooms = TagRoom.common.map { room in
      let icon = Kept(gtk_image_new())
      let row = Widgets.row(title: room.name)
      adw_action_row_add_prefix(row.cast(), icon.widget)
      return (room, row, icon)
    }
    Widgets.nameLists(in: lines.widget, translated("Records"))
    Widgets.nameLists(in: room.widget, translated("Room on Common Tags"))
    for (_, row, _) in rooms { adw_expander_row_add_row(room.cast(), row.widget) }
  }

  func show(_ draft: WriteForm.Draft) {
    gtk_widget_set_visible(widget.widget, draft.message == nil ? 0 : 1)
    guard let message = draft.message else {
      // Translators: of the form for a tag, if a field is empty or wrong.
      gtk_label_set_text(size.opaque, draft.mistakes.isEmpty ? translated("Add a record") : translated("Not complete"))
      return
    }
    let count = message.count
    let summary = [translated("{number} bytes", ["number": "\(count)"]), TagRoom.summary(count)]
    gtk_label_set_text(size.opaque, summary.joined(separator: " · "))
    gtk_label_set_text(bytes.opaque, ByteColumns.text(message))
    for (room, row, icon) in rooms {
      adw_action_row_set_subtitle(row.cast(), room.words(count))
      gtk_image_set_from_icon_name(
        icon.opaque, room.fits(count) ? "object-select-symbolic" : "dialog-warning-symbolic")
    }
    show(draft.lines)
  }

  private func show(_ texts: [String]) {
    guard texts != shown else { return }
    shown = texts
    for row in lineRows { adw_expander_row_remove(lines.cast(), row.widget) }
    lineRows = texts.map { Widgets.row(title: $0) }
    for row in lineRows { adw_expander_row_add_row(lines.cast(), row.widget) }
  }
}
