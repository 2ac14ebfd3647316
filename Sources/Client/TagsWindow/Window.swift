import CGTK
import CGTKShims
import EventLoop
import Glibc
import TagsPages

/// The window, with a page for each subject.
final class Window {
  let widget: Kept
  private let pages: Kept
  private let toasts: Toasts
  private let tags: TagsPage
  private let reader: ReaderPage
  private let write: WritePage
  private let apps: AppsPage
  private var actions: [String: Kept] = [:]
  private var savingDialog: Kept?

  init(_ application: Kept, _ services: Services) {
    let builder = Builder("window.ui")
    widget = builder["window"]
    FrameLog.follow(widget)
    pages = builder["pages"]
    toasts = Toasts(builder["toasts"])
    tags = TagsPage(services, toasts)
    reader = ReaderPage(services, toasts)
    write = WritePage(services, toasts)
    apps = AppsPage(services, toasts)
    gtk_window_set_application(widget.cast(), application.cast())
    add(tags.widget, "tags", translated("Tags"), "org.tagroute.Tags-symbolic")
    add(write.widget, "write", translated("Write"), "document-edit-symbolic")
    add(apps.widget, "apps", translated("Apps and Rules"), "application-x-executable-symbolic")
    add(reader.widget, "reader", translated("Reader"), "drive-harddisk-symbolic")
    let shortcuts = Builder("shortcuts.ui")
    gtk_application_window_set_help_overlay(widget.cast(), shortcuts["shortcuts"].opaque)
    addActions()
    tags.changed = { [weak self, back = builder["back"]] in self?.update(back) }
    recall()
    write.changed = tags.changed
    pages.on("notify::visible-child", tags.changed)
    widget.on("close-request") { [weak self] (values: SignalValues) in
      guard let self else { return }
      guard !write.isWriting else {
        toasts.show(translated("A tag is being written. Close the window after that."))
        return values.answer(true)
      }
      tags.finishDeletion()
      write.goBack()
      remember()
      values.answer(false)
    }
    update(builder["back"])
    tags.start()
  }

  func present() { gtk_window_present(widget.cast()) }

  /// Shows the tap with this id.
  func show(tap id: String) {
    adw_view_stack_set_visible_child_name(pages.opaque, "tags")
    tags.show(tap: id)
  }

  private func add(_ page: Kept, _ name: String, _ title: String, _ icon: String) {
    adw_view_stack_add_titled(pages.opaque, page.widget, name, title)
    adw_view_stack_page_set_icon_name(adw_view_stack_get_page(pages.opaque, page.widget), icon)
  }

  private func recall() {
    let memory = WindowMemory()
    gtk_window_set_default_size(widget.cast(), memory.width, memory.height)
    if memory.isMaximized { gtk_window_maximize(widget.cast()) }
    if adw_view_stack_get_child_by_name(pages.opaque, memory.page) != nil {
      adw_view_stack_set_visible_child_name(pages.opaque, memory.page)
    }
  }

  private func remember() {
    var memory = WindowMemory()
    memory.isMaximized = gtk_window_is_maximized(widget.cast()) != 0
    // The size without the maximization, which GTK keeps as the default size.
    gtk_window_get_default_size(widget.cast(), &memory.width, &memory.height)
    memory.page = adw_view_stack_get_visible_child_name(pages.opaque).map { String(cString: $0) } ?? memory.page
    memory.save()
  }

  private func addActions() {
    add("open") { [weak self] _ in self?.tags.open() }
    add("open-with", takesText: true) { [weak self] values in self?.tags.open(with: values.variantText(1)) }
    add("dismiss") { [weak self] _ in self?.tags.dismiss() }
    add("delete") { [weak self] _ in self?.tags.delete() }
    add("undo") { [weak self] _ in self?.tags.undo() }
    add("make-rule") { [weak self] _ in
      guard let self, let tag = tags.details?.tag else { return }
      adw_view_stack_set_visible_child_name(pages.opaque, "apps")
      apps.makeRule(for: tag)
    }
    add("export") { [weak self] _ in self?.export() }
    add("search") { [weak self] _ in self?.tags.focusSearch() }
    add("back") { [weak self] _ in self?.goBack() }
    add("page", takesText: true) { [weak self] values in
      guard let self, let page = values.variantText(1) else { return }
      adw_view_stack_set_visible_child_name(pages.opaque, page)
    }
  }

  private func add(_ name: String, takesText: Bool = false, _ body: @escaping (SignalValues) -> Void) {
    let type = takesText ? g_variant_type_new("s") : nil
    defer { type.map { g_variant_type_free($0) } }
    let action = Kept(adopting: g_simple_action_new(name, type))
    action.on("activate", body)
    g_action_map_add_action(widget.opaque, action.opaque)
    actions[name] = action
  }

  private func isVisible(_ page: Kept) -> Bool { adw_view_stack_get_visible_child(pages.opaque) == page.widget }

  private var canGoBack: Bool {
    isVisible(write.widget) ? write.canGoBack : isVisible(tags.widget) && tags.canGoBack
  }

  private func goBack() { isVisible(write.widget) ? write.goBack() : tags.goBack() }

  /// Which actions can be used now.
  private func update(_ back: Kept) {
    // Their keys have another use in the fields of other pages.
    let details = isVisible(tags.widget) ? tags.details : nil
    let isPossible = [
      "open": details?.canOpen == true, "open-with": details?.canOpen == true, "dismiss": details?.canDismiss == true,
      "delete": details != nil, "undo": isVisible(tags.widget), "back": canGoBack,
      "export": details?.message.isEmpty == false, "make-rule": details?.tag != nil,
    ]
    for (name, isPossible) in isPossible {
      actions[name].map { g_simple_action_set_enabled($0.opaque, isPossible ? 1 : 0) }
    }
    gtk_widget_set_visible(back.widget, canGoBack ? 1 : 0)
  }

  /// Asks for a file, and writes the message of the selected tap to it.
  private func export() {
    guard let details = tags.details else { return }
    let dialog = Kept(
      adopting: gtk_file_chooser_native_new(
        translated("Export Tag"), widget.cast(), GTK_FILE_CHOOSER_ACTION_SAVE, translated("_Export"),
        translated("_Cancel")))
    gtk_file_chooser_set_current_name(dialog.opaque, "tag.ndef")
    dialog.on("response") { [weak self] (values: SignalValues) in
      defer { self?.savingDialog = nil }
      guard let self, values.integer(1) == GTK_RESPONSE_ACCEPT.rawValue, let dialog = savingDialog,
        let file = gtk_file_chooser_get_file(dialog.opaque)
      else { return }
      write(details.message, to: Kept(adopting: file))
    }
    savingDialog = dialog
    gtk_native_dialog_show(dialog.cast())
  }

  private func write(_ bytes: [UInt8], to file: Kept) {
    var error: UnsafeMutablePointer<GError>?
    let isWritten = bytes.withUnsafeBytes { bytes in
      g_file_replace_contents(
        file.opaque, bytes.assumingMemoryBound(to: CChar.self).baseAddress, gsize(bytes.count), nil, 0,
        G_FILE_CREATE_REPLACE_DESTINATION, nil, nil, &error)
    }
    let problem = error.map { String(cString: $0.pointee.message) } ?? ""
    g_clear_error(&error)
    toasts.show(isWritten != 0 ? translated("Tag exported") : problem)
  }
}
