import CGTK
import CGTKShims
import Names
import TagsPages

/// The application: one process, one window. A second start shows the window of the first.
final class Application {
  static let id = "org.tagroute.Tags"

  private let application: Kept
  private let services = Services()
  private var window: Window?
  private var preferences: PreferencesWindow?

  init() {
    application = Kept(adopting: adw_application_new(Self.id, G_APPLICATION_DEFAULT_FLAGS))
    application.on("startup") { [weak self] in self?.start() }
    application.on("activate") { [weak self] in self?.shownWindow().present() }
  }

  /// Returns when the last window is closed, with the exit code.
  func run() -> Int32 {
    var arguments = CommandLine.arguments.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    return g_application_run(application.cast(), Int32(arguments.count), &arguments)
  }

  private func start() {
    addStyle()
    add("quit") { [weak self] _ in
      guard let self else { return }
      // Closing gives the window the time to finish.
      if let window { gtk_window_close(window.widget.cast()) } else { g_application_quit(application.cast()) }
    }
    add("about") { [weak self] _ in self?.showAbout() }
    add("preferences") { [weak self] _ in self?.showPreferences() }
    add("show-tap", takesText: true) { [weak self] values in
      guard let self, let id = values.variantText(1) else { return }
      let window = shownWindow()
      window.show(tap: id)
      window.present()
    }
    for (action, keys) in Self.accelerators {
      var list = keys.map { UnsafePointer(strdup($0)) } + [nil]
      gtk_application_set_accels_for_action(application.cast(), action, &list)
      for key in list { free(UnsafeMutablePointer(mutating: key)) }
    }
  }

  private static let accelerators = [
    "app.quit": ["<Control>q"], "app.preferences": ["<Control>comma"], "window.close": ["<Control>w"],
    "win.show-help-overlay": ["<Control>question"], "win.search": ["<Control>f"], "win.open": ["<Control>o"],
    "win.delete": ["Delete"], "win.undo": ["<Control>z"], "win.back": ["<Alt>Left", "Escape"],
    "win.page::tags": ["<Alt>1"], "win.page::write": ["<Alt>2"], "win.page::apps": ["<Alt>3"],
    "win.page::reader": ["<Alt>4"],
  ]

  private func shownWindow() -> Window {
    if let window { return window }
    let window = Window(application, services)
    window.widget.on("destroy") { [weak self] in self?.window = nil }
    self.window = window
    return window
  }

  private func add(_ name: String, takesText: Bool = false, _ body: @escaping (SignalValues) -> Void) {
    let type = takesText ? g_variant_type_new("s") : nil
    defer { type.map { g_variant_type_free($0) } }
    let action = Kept(adopting: g_simple_action_new(name, type))
    action.on("activate", body)
    g_action_map_add_action(application.opaque, action.opaque)
  }

  private func addStyle() {
    var length = 0
    guard let style = tags_file("style.css", &length), let display = gdk_display_get_default() else { return }
    let provider = Kept(adopting: gtk_css_provider_new())
    gtk_css_provider_load_from_data(provider.cast(), style, gssize(length))
    gtk_style_context_add_provider_for_display(
      display, provider.opaque, guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
  }

  private func showPreferences() {
    let window = shownWindow()
    window.present()
    let shown = preferences ?? PreferencesWindow(services, parent: window.widget)
    if preferences == nil { shown.widget.on("destroy") { [weak self] in self?.preferences = nil } }
    preferences = shown
    shown.present()
  }

  private func showAbout() {
    let about = Kept(adw_about_window_new())
    adw_about_window_set_application_name(about.opaque, translated("Tags"))
    adw_about_window_set_application_icon(about.opaque, Self.id)
    adw_about_window_set_version(about.opaque, Names.version)
    adw_about_window_set_developer_name(about.opaque, "Tagroute")
    gtk_window_set_transient_for(about.cast(), window?.widget.cast())
    gtk_window_set_modal(about.cast(), 1)
    gtk_window_present(about.cast())
  }
}
