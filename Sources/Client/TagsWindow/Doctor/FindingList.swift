import CGTK
import CGTKShims
import Doctor
import TagsPages

/// The rows of findings in a boxed list. A command can be copied.
final class FindingList {
  private let group: Kept
  private let toasts: Toasts?
  private var shown: [FindingRow] = []
  private var shownPassed: [FindingRow] = []
  private var widgets: [Kept] = []

  /// `toasts` confirm a copied command.
  init(_ group: Kept, _ toasts: Toasts?) { (self.group, self.toasts) = (group, toasts) }

  /// Rows that are the same as before stay as they are, with the focus.
  func show(_ rows: [FindingRow], passed: [FindingRow] = []) {
    guard rows != shown || passed != shownPassed else { return }
    (shown, shownPassed) = (rows, passed)
    for widget in widgets { adw_preferences_group_remove(group.cast(), widget.widget) }
    widgets = rows.map(row)
    if !passed.isEmpty { widgets.append(expander(passed)) }
    for widget in widgets { adw_preferences_group_add(group.cast(), widget.widget) }
  }

  private func expander(_ passed: [FindingRow]) -> Kept {
    let text =
      passed.count == 1
      ? translated("1 check passed") : translated("{number} checks passed", ["number": "\(passed.count)"])
    let expander = Widgets.expander(text)
    for row in passed {
      adw_expander_row_add_row(expander.cast(), Widgets.row(title: row.title, text: row.text).widget)
    }
    return expander
  }

  private func row(_ finding: FindingRow) -> Kept {
    let row = Kept(adw_preferences_row_new())
    gtk_list_box_row_set_activatable(row.cast(), 0)
    tags_set_accessible_name(row.raw, finding.spoken)
    let box = Kept(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12))
    Widgets.setMargins(box, 12)
    let icon = Kept(gtk_image_new_from_icon_name(Self.icon(finding.verdict)))
    gtk_widget_set_valign(icon.widget, GTK_ALIGN_START)
    gtk_widget_add_css_class(icon.widget, Self.style(finding.verdict))
    tags_set_accessible_name(icon.raw, finding.verdictWord)
    gtk_box_append(box.cast(), icon.widget)
    let texts = Kept(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6))
    gtk_widget_set_hexpand(texts.widget, 1)
    for part in parts(finding) { gtk_box_append(texts.cast(), part.widget) }
    gtk_box_append(box.cast(), texts.widget)
    gtk_list_box_row_set_child(row.cast(), box.widget)
    return row
  }

  private func parts(_ finding: FindingRow) -> [Kept] {
    var parts = [label(finding.title, ["heading"]), label(finding.text)]
    if !finding.command.isEmpty { parts.append(command(finding.command)) }
    if !finding.advice.isEmpty { parts.append(label(finding.advice, ["caption", "dim-label"])) }
    return parts
  }

  private func label(_ text: String, _ classes: [String] = []) -> Kept {
    let label = Widgets.label(text, classes: classes)
    gtk_label_set_wrap(label.opaque, 1)
    gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
    return label
  }

  private func command(_ command: String) -> Kept {
    let box = Kept(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6))
    let text = label(command, ["bytes"])
    gtk_widget_set_hexpand(text.widget, 1)
    gtk_box_append(box.cast(), text.widget)
    let copy = Kept(gtk_button_new_from_icon_name("edit-copy-symbolic"))
    gtk_widget_set_valign(copy.widget, GTK_ALIGN_START)
    gtk_widget_add_css_class(copy.widget, "flat")
    gtk_widget_set_tooltip_text(copy.widget, translated("Copy the command"))
    tags_set_accessible_name(copy.raw, translated("Copy the command {command}", ["command": command]))
    copy.on("clicked") { [weak self] in
      guard let self else { return }
      gdk_clipboard_set_text(gtk_widget_get_clipboard(group.widget), command)
      toasts?.show(translated("Command copied"))
    }
    gtk_box_append(box.cast(), copy.widget)
    return box
  }

  private static func icon(_ verdict: Finding.Verdict) -> String {
    switch verdict {
    case .right: "object-select-symbolic"
    case .wrong: "dialog-warning-symbolic"
    case .note: "dialog-information-symbolic"
    }
  }

  private static func style(_ verdict: Finding.Verdict) -> String {
    switch verdict {
    case .right: "success"
    case .wrong: "warning"
    case .note: "dim-label"
    }
  }
}
