import CGTK
import CGTKShims
import TagrouteClient
import TagsPages

/// What the page shows while tags are written, and after it.
final class WritingView {
  private let widget: Kept
  private let picture: Kept
  private let icon: Kept
  private let spinner: Kept
  private let title: Kept
  private let text: Kept
  private let held: Kept
  private let results: Kept
  private let buttons: [WritingScene.Button: Kept]
  /// Nil while the form is shown.
  private(set) var scene: WritingScene?
  /// How many entries of the run are in the list.
  private var listed = 0

  init(_ builder: Builder) {
    widget = builder["page"]
    picture = builder["picture"]
    icon = builder["icon"]
    spinner = builder["spinner"]
    title = builder["title"]
    text = builder["text"]
    held = builder["held"]
    results = builder["results"]
    Widgets.show("form", in: widget)
    buttons = [
      .keep: builder["keep"], .replace: builder["replace"], .again: builder["again"], .writeBack: builder["write_back"],
      .stop: builder["stop"], .done: builder["done"],
    ]
  }

  /// The newest results. All of a long batch would slow the window down.
  private static let mostResults = 100

  func show(_ run: WritingRun<ReaderTag>) {
    showResults(run)
    let next = WritingScene(run)
    guard next != scene else { return }
    let former = scene
    scene = next
    Widgets.show(next == nil ? "form" : "run", in: widget)
    guard let next else { return }
    gtk_label_set_text(title.opaque, next.title)
    gtk_label_set_text(text.opaque, next.text)
    gtk_widget_set_visible(text.widget, next.text.isEmpty ? 0 : 1)
    Widgets.show(next.icon == nil ? "spinner" : "icon", in: picture)
    gtk_spinner_set_spinning(spinner.opaque, next.icon == nil ? 1 : 0)
    if let icon = next.icon { gtk_image_set_from_icon_name(self.icon.opaque, icon) }
    showHeld(next.held)
    label(run.order.isBatch)
    for (button, widget) in buttons { gtk_widget_set_visible(widget.widget, next.buttons.contains(button) ? 1 : 0) }
    guard let first = next.buttons.first.flatMap({ buttons[$0] }) else { return }
    // Nothing else tells a screen reader what has changed.
    tags_set_accessible_description(first.raw, next.text.isEmpty ? next.title : "\(next.title). \(next.text)")
    // The focus must not leave the page that the user is looking at.
    guard former?.buttons != next.buttons, gtk_widget_get_mapped(widget.widget) != 0 else { return }
    gtk_widget_grab_focus(first.widget)
  }

  private func label(_ isBatch: Bool) {
    // Translators: ends a batch of tags.
    let stop = isBatch ? translated("Stop") : translated("Cancel")
    // Translators: goes on with a batch of tags.
    let again = isBatch ? translated("Continue") : translated("Try Again")
    for (button, text) in [(WritingScene.Button.stop, stop), (.again, again)] {
      buttons[button].map { gtk_button_set_label($0.cast(), text) }
    }
  }

  private func showHeld(_ lines: [String]) {
    for child in Widgets.children(held.widget) { gtk_box_remove(held.cast(), child) }
    guard !lines.isEmpty else { return }
    let group = Widgets.group(title: translated("On the Tag Now"))
    for line in lines { adw_preferences_group_add(group.cast(), Widgets.row(title: line).widget) }
    gtk_box_append(held.cast(), group.widget)
  }

  private func showResults(_ run: WritingRun<ReaderTag>) {
    if run.entries.count < listed {
      listed = 0
      for child in Widgets.children(results.widget) { gtk_list_box_remove(results.opaque, child) }
    }
    gtk_widget_set_visible(results.widget, run.order.isBatch && !run.entries.isEmpty ? 1 : 0)
    guard run.order.isBatch else { return }
    for entry in run.entries[listed...] {
      let result = WritingScene.result(entry)
      let row = Widgets.row(title: result.title, text: result.text)
      let icon = Kept(
        gtk_image_new_from_icon_name(result.isGood ? "object-select-symbolic" : "dialog-warning-symbolic"))
      adw_action_row_add_prefix(row.cast(), icon.widget)
      gtk_list_box_prepend(results.opaque, row.widget)
      gtk_list_box_get_row_at_index(results.opaque, Int32(Self.mostResults)).map {
        gtk_list_box_remove(results.opaque, UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWidget.self))
      }
    }
    listed = run.entries.count
  }
}
