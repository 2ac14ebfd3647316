import Bus
import CGTK
import CGTKShims
import TagrouteClient
import TagsPages

/// The page on which the user puts a message together and writes it on tags.
final class WritePage {
  let widget: Kept
  private let services: Services
  private let toasts: Toasts
  private let preview: WritePreview
  private let view: WritingView
  private let records: Kept
  private let writeButton: Kept
  private let notice: (box: Kept, text: Kept)
  private let options: (formats: Kept, locks: Kept, several: Kept)
  private let actions = Kept(adopting: g_simple_action_group_new())
  private lazy var runner = WritingRunner(services) { [weak self] in self?.showRun() }
  private var form: WriteForm
  private var editors: [Int: RecordEditor] = [:]
  private var dialog: Kept?
  private var watch: ServiceWatch?
  /// What the page reports to its window: whether Esc has a use here.
  var changed: () -> Void = {}

  init(_ services: Services, _ toasts: Toasts) {
    (self.services, self.toasts) = (services, toasts)
    let builder = Builder("write.ui")
    widget = builder["page"]
    records = builder["records"]
    writeButton = builder["write"]
    notice = (builder["notice"], builder["notice_text"])
    options = (builder["formats"], builder["locks"], builder["several"])
    preview = WritePreview(builder)
    view = WritingView(builder)
    form = WriteForm(locale: g_get_language_names()?.pointee.map { String(cString: $0) } ?? "")
    addActions()
    for record in form.records { insert(record) }
    update()
    watch = ServiceWatch(services, while: widget) { [weak self] change in
      if case .daemon = change { self?.checkReader() }
    }
  }

  /// Whether the window must stay open: a tag that is being written would be empty.
  var isWriting: Bool { runner.run.state == .writing }

  var canGoBack: Bool { view.scene != nil }

  /// Stops the run, or leads from its result to the form.
  func goBack() { runner.handle(runner.run.isRunning ? .stopped : .dismissed) }

  // MARK: Actions

  private func addActions() {
    add("add", takesText: true) { [weak self] values in
      values.variantText(1).flatMap(RecordForm.Kind.init).map { self?.add($0) }
    }
    add("start") { [weak self] _ in self?.write() }
    add("stop") { [weak self] _ in self?.runner.handle(.stopped) }
    add("keep") { [weak self] _ in self?.runner.handle(.answered(replaces: false)) }
    add("replace") { [weak self] _ in self?.runner.handle(.answered(replaces: true)) }
    add("done") { [weak self] _ in self?.runner.handle(.dismissed) }
    add("again") { [weak self] _ in
      guard let self else { return }
      confirm(runner.run.order) { [weak self] in self?.runner.handle(.resumed) }
    }
    add("write-back") { [weak self] _ in
      guard let self, let order = runner.run.orderToWriteBack else { return }
      runner.handle(.ordered(order))
    }
    gtk_widget_insert_action_group(widget.widget, "write", actions.opaque)
  }

  private func add(_ name: String, takesText: Bool = false, _ body: @escaping (SignalValues) -> Void) {
    let type = takesText ? g_variant_type_new("s") : nil
    defer { type.map { g_variant_type_free($0) } }
    let action = Kept(adopting: g_simple_action_new(name, type))
    action.on("activate", body)
    g_action_map_add_action(actions.opaque, action.opaque)
  }

  private func write() {
    guard let message = form.draft.message else {
      form.showsMistakes = true
      update()
      return focusMistake()
    }
    let order = WritingOrder(
      message: message, formats: isOn(options.formats), locks: isOn(options.locks), isBatch: isOn(options.several))
    confirm(order) { [weak self] in self?.runner.handle(.ordered(order)) }
  }

  private func isOn(_ control: Kept) -> Bool { gtk_switch_get_active(control.opaque) != 0 }

  private func focusMistake() {
    let draft = form.draft
    guard let record = form.records.first(where: { draft.mistakes[$0.id] != nil }) else { return }
    editors[record.id]?.focus(draft.mistakes[record.id]?.field)
  }

  /// Asks before each run that locks tags.
  private func confirm(_ order: WritingOrder, then proceed: @escaping () -> Void) {
    guard order.locks else { return proceed() }
    let heading =
      order.isBatch ? translated("Lock Every Tag After Writing?") : translated("Lock the Tag After Writing?")
    let body = [
      translated("Nobody can change or unlock a locked tag. This cannot be undone."),
      translated("Type 4 tags, and FeliCa cards other than Lite, only report that they are read-only."),
    ].joined(separator: "\n\n")
    let dialog = Kept(adw_message_dialog_new(window, heading, body))
    adw_message_dialog_add_response(dialog.cast(), "cancel", translated("Cancel"))
    adw_message_dialog_add_response(dialog.cast(), "lock", translated("Write and Lock"))
    adw_message_dialog_set_response_appearance(dialog.cast(), "lock", ADW_RESPONSE_DESTRUCTIVE)
    adw_message_dialog_set_default_response(dialog.cast(), "cancel")
    adw_message_dialog_set_close_response(dialog.cast(), "cancel")
    dialog.on("response") { [weak self] (values: SignalValues) in
      self?.dialog = nil
      if values.text(1) == "lock" { proceed() }
    }
    self.dialog = dialog
    gtk_window_present(dialog.cast())
  }

  private var window: UnsafeMutablePointer<GtkWindow>? {
    gtk_widget_get_root(widget.widget).map { UnsafeMutablePointer($0) }
  }

  // MARK: Records

  private func add(_ kind: RecordForm.Kind) {
    let record = form.add(kind)
    insert(record)
    update()
    Task { [weak self] in
      // The menu first gives the focus back, and the page can scroll to a row only after it was drawn.
      try? await Task.sleep(for: .milliseconds(100))
      self?.editors[record.id]?.focus()
    }
  }

  /// Puts an editor in the place of its record.
  private func insert(_ record: RecordForm) {
    let editor = RecordEditor(record) { [weak self] in self?.handle($0, record.id) }
    editors[record.id] = editor
    gtk_box_append(records.cast(), editor.widget.widget)
    arrange(record.id)
  }

  /// Behind the editor of the record before.
  private func arrange(_ id: Int) {
    guard let place = form.place(id), let editor = editors[id] else { return }
    let before = place == 0 ? nil : editors[form.records[place - 1].id]?.widget.widget
    gtk_box_reorder_child_after(records.cast(), editor.widget.widget, before)
  }

  private func handle(_ event: RecordEditor.Event, _ id: Int) {
    switch event {
    case .typed(let field, let text): form.change(id) { $0.texts[field] = text }
    case .left(let field): return leave(field, id)
    case .opened(let isOpen): form.change(id) { $0.isOpen = isOpen }
    case .fileWanted: return chooseFile(id)
    case .fileDropped: form.change(id) { $0.file = nil }
    case .moved(let distance):
      guard form.move(id, by: distance) != nil else { return }
      arrange(id)
    case .removed: return remove(id)
    }
    update()
  }

  private func leave(_ field: RecordForm.Field, _ id: Int) {
    form.change(id) { if $0.texts[field]?.isEmpty == false { $0.visited.insert(field) } }
    Task { [weak self] in
      // The focus may have gone to a button that is being pressed. It must not move away under the pointer.
      try? await Task.sleep(for: .milliseconds(300))
      self?.update()
    }
  }

  private func remove(_ id: Int) {
    guard let place = form.place(id), let editor = editors.removeValue(forKey: id) else { return }
    form.remove(id)
    gtk_box_remove(records.cast(), editor.widget.widget)
    update()
    if let neighbour = form.records[..<min(place + 1, form.records.count)].last {
      editors[neighbour.id]?.focus()
    } else {
      gtk_widget_grab_focus(writeButton.widget)
    }
    toasts.show(translated("Record removed"), button: translated("Undo")) { [weak self] in
      guard let self, let (record, _) = form.restore() else { return }
      insert(record)
      update()
    }
  }

  private func chooseFile(_ id: Int) {
    guard let place = form.place(id) else { return }
    let suffixes = RecordForm.suffixes(form.records[place].kind) ?? []
    let dialog = Kept(
      adopting: gtk_file_chooser_native_new(
        translated("Choose a File"), window, GTK_FILE_CHOOSER_ACTION_OPEN, translated("_Choose"), translated("_Cancel"))
    )
    if !suffixes.isEmpty {
      let filter = Kept(adopting: gtk_file_filter_new())
      gtk_file_filter_set_name(filter.opaque, suffixes.map { "*.\($0)" }.joined(separator: ", "))
      for suffix in suffixes { gtk_file_filter_add_suffix(filter.opaque, suffix) }
      gtk_file_chooser_add_filter(dialog.opaque, filter.opaque)
    }
    dialog.on("response") { [weak self] (values: SignalValues) in
      defer { self?.dialog = nil }
      guard let self, values.integer(1) == GTK_RESPONSE_ACCEPT.rawValue, let dialog = self.dialog,
        let file = gtk_file_chooser_get_file(dialog.opaque).map({ Kept(adopting: $0) }),
        let uri = g_file_get_uri(file.opaque)
      else { return }
      defer { g_free(uri) }
      read(String(cString: uri), id)
    }
    self.dialog = dialog
    gtk_native_dialog_show(dialog.cast())
  }

  private func read(_ uri: String, _ id: Int) {
    Task { [weak self] in
      let result = await ChosenFile.read(uri)
      guard let self else { return }
      switch result {
      case .success(let file):
        let chosen = RecordForm.File(name: file.name, contents: file.contents)
        form.change(id) { $0.take(chosen, mediaType: file.mediaType) }
        update()
      case .failure(let problem): toasts.show(problem.message)
      }
    }
  }

  // MARK: What there is to see

  private func update() {
    let draft = form.draft
    for (place, record) in form.records.enumerated() {
      editors[record.id]?.show(record, isFirst: place == 0, isLast: place == form.records.count - 1) { field in
        form.visibleMistake(draft, record.id, field)
      }
    }
    preview.show(draft)
    gtk_widget_set_sensitive(writeButton.widget, form.records.isEmpty ? 0 : 1)
  }

  private func showRun() {
    view.show(runner.run)
    if view.scene == nil, gtk_widget_get_mapped(widget.widget) != 0 { gtk_widget_grab_focus(writeButton.widget) }
    changed()
  }

  /// Says why no tag can be written now.
  private func checkReader() {
    Task { [weak self, services] in
      let obstacle = await Self.obstacle(services)
      self?.show(obstacle: obstacle)
    }
  }

  private func show(obstacle: String?) {
    if let obstacle { gtk_label_set_text(notice.text.opaque, obstacle) }
    gtk_widget_set_visible(notice.box.widget, obstacle == nil ? 0 : 1)
  }

  /// Why no tag can be written now; nil if one can.
  private static func obstacle(_ services: Services) async -> String? {
    do throws(BusError) {
      return try await services.daemon().readingAvailable(timeout: .seconds(5))
        ? nil : translated("No reader is ready. Plug one in, or look at the page Reader.")
    } catch {
      return error.isAway ? translated("The service tagrouted does not run.") : error.message
    }
  }
}
