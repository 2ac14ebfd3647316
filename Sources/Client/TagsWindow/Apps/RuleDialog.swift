import CGTK
import EventLoop
import Handlers
import Notifications
import Routing
import Settings
import TagsPages

/// The form that makes a rule. It writes the rule into the user's files, which the agent watches.
final class RuleDialog {
  private let window: Kept
  private let files: RuleFiles
  private let apps: AppChoice
  private let handlers: AppChoice
  private let content: () -> RuleFiles.Content
  private let added: (String) -> Void
  private var picker: TagPicker?
  private var form = RuleForm()
  /// Whether the user has tried to add the rule, so that mistakes are shown.
  private var isChecked = false
  private var isWriting = false
  private var isUpdating = false
  private var errors: [RuleForm.Field: FieldError] = [:]
  private let texts: [(Kept, WritableKeyPath<RuleForm, String>)]
  private let subject, effect, position: Kept
  private let forMessage, forMessageRow, skipsClick, skipsClickRow: Kept
  private let openedID, order, failure, failureText, add: Kept
  /// The names of the rules that the new one can be put before.
  private let positions: [String]
  private var choosing: Kept?

  /// `content` are the present rules, `handlers` the apps that take tags. `added` gets the name of the new rule.
  init(
    _ services: Services, files: RuleFiles, content: @escaping () -> RuleFiles.Content, handlers: [InstalledApp],
    added: @escaping (String) -> Void
  ) {
    let builder = Builder("rule.ui")
    (self.files, self.content, self.added) = (files, content, added)
    window = builder["dialog"]
    (subject, effect, position) = (builder["subject"], builder["effect"], builder["position"])
    (forMessage, forMessageRow) = (builder["for_message"], builder["for_message_row"])
    (skipsClick, skipsClickRow) = (builder["skips_click"], builder["skips_click_row"])
    (openedID, order, add) = (builder["opened_id"], builder["order"], builder["add"])
    (failure, failureText) = (builder["failure"], builder["failure_text"])
    texts = [
      (builder["name"], \.name), (builder["uid"], \.uid), (builder["link"], \.link), (builder["type"], \.type),
      (openedID, \.openedApp), (builder["program"], \.program), (builder["arguments"], \.arguments),
    ]
    self.handlers = AppChoice(builder["app_row"], builder["app"])
    apps = AppChoice(builder["opened_app_row"], builder["opened_app"], hasOthers: true)
    let names = content().rules.filter { $0.origin == .user }.map(\.name)
    positions = Array(names.prefix(200))
    self.handlers.show(handlers)
    apps.show(handlers)
    for (field, id) in [
      (.name, "name"), (.uid, "uid"), (.link, "link"), (.app, "app_row"), (.type, "type"), (.openedApp, "opened_id"),
      (.program, "program"), (.arguments, "arguments"), (.position, "position"),
    ] as [(RuleForm.Field, String)] { errors[field] = FieldError(builder[id]) }
    let picker = TagPicker(services) { [weak self] tag in self?.take(tag) }
    self.picker = picker
    FieldError.insert(picker.widget, below: builder["subject"])
    let choices =
      [translated("After added rules")]
      + positions.map { translated("Before “{rule}”", ["rule": DisplayText($0, limit: 60).string]) }
    adw_combo_row_set_model(position.cast(), Widgets.strings(choices).opaque)
    for (list, name) in [
      (subject, translated("Condition")), (effect, translated("Action")), (position, translated("Tried")),
      (builder["app"], translated("Apps")), (builder["opened_app"], translated("Apps")),
    ] { ChoiceItems.name(list, name) }
    // The lists without a heading.
    Widgets.nameLists(in: builder["name_group"].widget, translated("Name"))
    Widgets.nameLists(in: order.widget, translated("Tried"))
    connect(builder["choose_program"])
    choose()
  }

  isolated deinit { gtk_window_destroy(window.cast()) }

  /// With the UID of a tag, if there is one.
  func present(over parent: UnsafeMutablePointer<GtkWidget>?, for tag: PickedTag? = nil, closed: @escaping () -> Void) {
    window.on("close-request") { [weak self] (values: SignalValues) in
      self?.picker?.cancel()
      values.answer(false)
      closed()
    }
    gtk_window_set_transient_for(window.cast(), parent.map { Kept($0).cast() })
    if let tag { take(tag) }
    gtk_window_present(window.cast())
    if let name = errors[.name]?.field { gtk_widget_grab_focus(name.widget) }
    Task { [weak self] in
      let installed = await InstalledApp.all()
      guard let self else { return }
      // An app that takes tags may be in no menu.
      let ids = Set(installed.map(\.id))
      apps.show(installed + handlers.apps.filter { !ids.contains($0.id) })
    }
  }

  private func connect(_ chooser: Kept) {
    for (entry, path) in texts {
      entry.on("changed") { [weak self, weak entry] in
        guard let self, let entry, !isUpdating else { return }
        form[keyPath: path] = Widgets.text(entry)
        update()
      }
    }
    for row in [subject, effect, position] { row.on("notify::selected") { [weak self] in self?.choose() } }
    for choice in [handlers, apps] { choice.chosen = { [weak self] in self?.choose() } }
    for toggle in [forMessage, skipsClick] { toggle.on("notify::active") { [weak self] in self?.choose() } }
    add.on("clicked") { [weak self] in self?.write() }
    chooser.on("clicked") { [weak self] in self?.chooseProgram() }
  }

  /// Reads everything that is no text.
  private func choose() {
    guard !isUpdating else { return }
    let selected = { (row: Kept) in Int(adw_combo_row_get_selected(row.cast())) }
    form.subject = RuleForm.Subject(rawValue: selected(subject)) ?? .tag
    form.effect = RuleForm.Effect(rawValue: selected(effect)) ?? .openDefault
    form.next = positions.indices.contains(selected(position) - 1) ? positions[selected(position) - 1] : nil
    form.isForMessage = gtk_switch_get_active(forMessage.opaque) != 0
    form.skipsClick = gtk_switch_get_active(skipsClick.opaque) != 0
    form.app = handlers.selected?.id ?? ""
    form.openedApp = apps.selected?.id ?? Widgets.text(openedID)
    update()
  }

  private func take(_ tag: PickedTag) {
    form.take(tag)
    isUpdating = true
    adw_combo_row_set_selected(subject.cast(), guint(form.subject.rawValue))
    for (entry, path) in texts where path == \.uid { gtk_editable_set_text(entry.opaque, form.uid) }
    isUpdating = false
    update()
  }

  /// Shows the fields that matter, and the mistakes after the first try.
  private func update() {
    let visible: Set<RuleForm.Field> = form.fields
    for (field, error) in errors { gtk_widget_set_visible(error.field.widget, visible.contains(field) ? 1 : 0) }
    gtk_widget_set_visible(picker?.widget.widget, form.subject == .tag ? 1 : 0)
    gtk_widget_set_visible(forMessageRow.widget, form.subject == .tag && form.knownMessage != nil ? 1 : 0)
    gtk_widget_set_visible(apps.row.widget, form.effect == .open ? 1 : 0)
    gtk_widget_set_visible(skipsClickRow.widget, form.effect.canSkipClick ? 1 : 0)
    gtk_widget_set_visible(order.widget, positions.isEmpty ? 0 : 1)
    gtk_widget_set_visible(openedID.widget, form.effect == .open && apps.selected == nil ? 1 : 0)
    show(failure: nil)
    guard isChecked else { return }
    if case .failure(let mistakes) = form.rule(content()) { show(mistakes) } else { show(RuleForm.Mistakes()) }
  }

  private func show(_ mistakes: RuleForm.Mistakes) {
    for (field, error) in errors { error.show(mistakes.texts[field].map { DisplayText($0, limit: 500).string }) }
  }

  private func show(failure text: String?) {
    gtk_label_set_text(failureText.opaque, text.map { DisplayText($0, limit: 1000).string } ?? "")
    gtk_widget_set_visible(failure.widget, text == nil ? 0 : 1)
  }

  private func write() {
    guard !isWriting else { return }
    isChecked = true
    switch form.rule(content()) {
    case .failure(let mistakes):
      show(mistakes)
      if let first = RuleForm.Field.allCases.first(where: { mistakes.texts[$0] != nil }),
        let field = errors[first]?.field
      {
        gtk_widget_grab_focus(field.widget)
      }
    case .success(let draft):
      isWriting = true
      gtk_widget_set_sensitive(add.widget, 0)
      Task { [weak self, files, next = form.next] in
        let result = try? await DedicatedThread.run {
          Result { () throws(KeyFileError) in try files.add(draft, before: next) }
        }
        self?.written(draft.name, result.map { $0.map { _ in } })
      }
    }
  }

  /// Nil if the system has no thread left.
  private func written(_ name: String, _ result: Result<Void, KeyFileError>?) {
    isWriting = false
    gtk_widget_set_sensitive(add.widget, 1)
    switch result {
    case .success?:
      added(name)
      gtk_window_close(window.cast())
    case .failure(let error)?: show(failure: error.description)
    case nil: show(failure: translated("The rule could not be written. Try again."))
    }
  }

  private func chooseProgram() {
    let dialog = Kept(
      adopting: gtk_file_chooser_native_new(
        translated("Choose a Program"), window.cast(), GTK_FILE_CHOOSER_ACTION_OPEN, translated("_Choose"),
        translated("_Cancel")))
    dialog.on("response") { [weak self] (values: SignalValues) in
      guard let self else { return }
      defer { choosing = nil }
      guard values.integer(1) == GTK_RESPONSE_ACCEPT.rawValue, let dialog = choosing,
        let file = gtk_file_chooser_get_file(dialog.opaque).map({ Kept(adopting: $0) }),
        let path = g_file_get_path(file.opaque), let program = errors[.program]?.field
      else { return }
      defer { g_free(path) }
      gtk_editable_set_text(program.opaque, path)
    }
    choosing = dialog
    gtk_native_dialog_show(dialog.cast())
  }
}

/// A list of apps in a row of the form.
private final class AppChoice {
  let row: Kept
  var chosen: () -> Void = {}
  private let list: Kept
  private let hasOthers: Bool
  private(set) var apps: [InstalledApp] = []
  private var isUpdating = false

  /// With `hasOthers`, the last item is for an app that is not in the list.
  init(_ row: Kept, _ list: Kept, hasOthers: Bool = false) {
    (self.row, self.list, self.hasOthers) = (row, list, hasOthers)
    list.on("notify::selected") { [weak self] in
      guard let self, !isUpdating else { return }
      chosen()
    }
  }

  /// Nil for another app, and if there is none.
  var selected: InstalledApp? {
    let position = Int(gtk_drop_down_get_selected(list.opaque))
    return apps.indices.contains(position) ? apps[position] : nil
  }

  /// The selected one stays selected.
  func show(_ apps: [InstalledApp]) {
    let former = selected
    isUpdating = true
    self.apps = apps
    let names = apps.map { DisplayText($0.name, limit: 40).string }
    gtk_drop_down_set_model(
      list.opaque, Widgets.strings(names + (hasOthers ? [translated("Another App…")] : [])).opaque)
    let position = former.flatMap { former in apps.firstIndex { $0.id == former.id } } ?? 0
    gtk_drop_down_set_selected(list.opaque, guint(position))
    isUpdating = false
    chosen()
  }
}
