import CGTK
import CGTKShims
import TagsPages

/// The details of the selected tap, beside the list.
final class TapPane {
  private let stack: Kept
  private let title: Kept
  private let groups: Kept
  private let openWith: Kept
  private(set) var details: TapDetails?

  init(_ builder: Builder) {
    stack = builder["details"]
    title = builder["title"]
    groups = builder["groups"]
    openWith = builder["open_with"]
  }

  func showNothing() {
    details = nil
    Widgets.show("none", in: stack)
  }

  func show(_ details: TapDetails) {
    guard self.details != details else { return }
    self.details = details
    gtk_label_set_text(title.opaque, details.title)
    for child in Widgets.children(groups.widget) { gtk_box_remove(groups.cast(), child) }
    for group in details.groups {
      let list = Widgets.group(title: group.title)
      for row in group.rows { adw_preferences_group_add(list.cast(), self.row(row).widget) }
      gtk_box_append(groups.cast(), list.widget)
    }
    showCandidates(details.candidates)
    Widgets.show("tap", in: stack)
  }

  private func row(_ row: TapDetails.Row) -> Kept {
    guard row.isBytes else { return Widgets.row(title: row.title, text: row.text) }
    let expander = Kept(adw_expander_row_new())
    adw_preferences_row_set_use_markup(expander.cast(), 0)
    adw_preferences_row_set_title(expander.cast(), row.title)
    let text = Widgets.label(row.text, classes: ["bytes"])
    gtk_label_set_selectable(text.opaque, 1)
    for set in [
      gtk_widget_set_margin_start, gtk_widget_set_margin_end, gtk_widget_set_margin_top, gtk_widget_set_margin_bottom,
    ] {
      set(text.widget, 12)
    }
    let scrolled = Kept(gtk_scrolled_window_new())
    gtk_scrolled_window_set_policy(scrolled.opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
    gtk_scrolled_window_set_child(scrolled.opaque, text.widget)
    adw_expander_row_add_row(expander.cast(), scrolled.widget)
    return expander
  }

  private func showCandidates(_ candidates: [TapDetails.Candidate]) {
    let menu = Kept(adopting: g_menu_new())
    for candidate in candidates {
      let item = Kept(adopting: g_menu_item_new(candidate.name, nil))
      g_menu_item_set_action_and_target_value(item.opaque, "win.open-with", g_variant_new_string(candidate.id))
      g_menu_append_item(menu.opaque, item.opaque)
    }
    gtk_menu_button_set_menu_model(openWith.opaque, menu.cast())
    gtk_widget_set_sensitive(openWith.widget, candidates.isEmpty ? 0 : 1)
  }
}
