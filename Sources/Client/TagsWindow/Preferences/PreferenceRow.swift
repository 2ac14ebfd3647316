import CGTK
import CGTKShims
import TagsPages

/// One setting in a boxed list, with the agent's reason below it if the agent has refused a value.
final class PreferenceRow {
  let preference: Preference
  private let row: Kept
  private let control: Kept
  private let mistake: FieldError
  private let reset = Kept(gtk_button_new_from_icon_name("edit-clear-symbolic"))
  private let edited: (String?) -> Void
  private var choices: [Preference.Choice] = []
  private var field: PreferenceForm.Field?
  /// Whether the row itself changes its control.
  private var isShowing = false

  /// `edited` gets a value that the user has set; nil for the default.
  init(_ preference: Preference, in group: Kept, edited: @escaping (String?) -> Void) {
    (self.preference, self.edited) = (preference, edited)
    if case .choice = preference.control {
      row = Widgets.choices(preference.title)
    } else {
      row = Widgets.row(title: preference.title)
    }
    adw_preferences_group_add(group.cast(), row.widget)
    switch preference.control {
    case .toggle: control = Kept(gtk_switch_new())
    case .choice: control = row
    case .number: control = Kept(gtk_entry_new())
    case .text:
      control = Kept(adw_entry_row_new())
      adw_preferences_group_add(group.cast(), control.widget)
    }
    if case .text = preference.control { mistake = FieldError(control) } else { mistake = FieldError(row) }
    gtk_widget_set_valign(reset.widget, GTK_ALIGN_CENTER)
    gtk_widget_add_css_class(reset.widget, "flat")
    gtk_widget_set_visible(reset.widget, 0)
    adw_action_row_add_suffix(row.cast(), reset.widget)
    reset.on("clicked") { [weak self] in self?.edited(nil) }
    addControl()
  }

  private func addControl() {
    switch preference.control {
    case .toggle(let on, let off):
      addSuffix()
      control.on("notify::active") { [weak self] in
        guard let self, !isShowing else { return }
        edited(gtk_switch_get_active(control.opaque) != 0 ? on : off)
      }
    case .choice:
      control.on("notify::selected") { [weak self] in
        guard let self, !isShowing else { return }
        let position = Int(adw_combo_row_get_selected(control.cast()))
        if choices.indices.contains(position) { edited(choices[position].value) }
      }
    case .number:
      addSuffix()
      gtk_editable_set_width_chars(control.opaque, 7)
      gtk_editable_set_max_width_chars(control.opaque, 7)
      gtk_entry_set_input_purpose(control.cast(), GTK_INPUT_PURPOSE_DIGITS)
      control.on("activate") { [weak self] in self?.entered() }
      let focus = Kept(adopting: gtk_event_controller_focus_new())
      focus.on("leave") { [weak self] in self?.entered() }
      gtk_widget_add_controller(control.widget, focus.added)
    case .text(let hint):
      adw_preferences_row_set_title(control.cast(), hint)
      adw_entry_row_set_show_apply_button(control.cast(), 1)
      control.on("apply") { [weak self] in self?.entered() }
    }
  }

  /// The control gets its name from the row.
  private func addSuffix() {
    gtk_widget_set_valign(control.widget, GTK_ALIGN_CENTER)
    adw_action_row_add_suffix(row.cast(), control.widget)
    adw_action_row_set_activatable_widget(row.cast(), control.widget)
  }

  /// The user has finished a text.
  private func entered() {
    let text = Widgets.text(control)
    if let field, text != field.value { edited(text) }
  }

  /// Nil if the agent does not have the setting. `canChange` is whether the agent takes changes now.
  func show(_ field: PreferenceForm.Field?, canChange: Bool) {
    for widget in Set([row.widget, parted.widget]) {
      gtk_widget_set_sensitive(widget, canChange ? 1 : 0)
      gtk_widget_set_visible(widget, field == nil && canChange ? 0 : 1)
    }
    // A text that the user is typing stays.
    guard let field, field != self.field else { return }
    self.field = field
    showValue(field.value)
    mistake.show(field.problem.isEmpty ? nil : field.problem)
    let standard = translated("Default: {value}", ["value": field.defaultWords])
    adw_action_row_set_subtitle(
      row.cast(), [preference.text, standard].filter { !$0.isEmpty }.joined(separator: "\n"))
    gtk_widget_set_visible(reset.widget, field.isSet ? 1 : 0)
    let label = translated("Use the default: {value}", ["value": field.defaultWords])
    gtk_widget_set_tooltip_text(reset.widget, label)
    tags_set_accessible_name(reset.raw, "\(preference.title): \(label)")
  }

  /// The second row, if there is one.
  private var parted: Kept { if case .text = preference.control { control } else { row } }

  /// Shows the present value again, after the user has not confirmed another one.
  func restore() { if let field { showValue(field.value) } }

  private func showValue(_ value: String) {
    isShowing = true
    defer { isShowing = false }
    switch preference.control {
    case .toggle(let on, _): gtk_switch_set_active(control.opaque, value == on ? 1 : 0)
    case .choice:
      let choices = preference.choices(with: value)
      if choices != self.choices {
        self.choices = choices
        adw_combo_row_set_model(control.cast(), Widgets.strings(choices.map(\.title)).opaque)
      }
      if let position = choices.firstIndex(where: { $0.value == value }) {
        adw_combo_row_set_selected(control.cast(), UInt32(position))
      }
    case .number, .text:
      // The same text would move the cursor.
      if Widgets.text(control) != value { gtk_editable_set_text(control.opaque, value) }
    }
  }
}
