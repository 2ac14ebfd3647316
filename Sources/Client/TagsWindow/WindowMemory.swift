import CGTK

/// The size and the page that the window had, kept in a key file of the user's state directory.
///
/// No GSettings: that needs an installed schema, and ends the program without one.
struct WindowMemory {
  var width: Int32 = 920
  var height: Int32 = 640
  var isMaximized = false
  var page = "tags"

  private static let group = "Window"

  private static var folder: String {
    // GLib's own: $XDG_STATE_HOME, or ~/.local/state.
    "\(String(cString: g_get_user_state_dir()))/tagroute"
  }
  private static var path: String { "\(folder)/tags.conf" }

  /// The defaults, where the file has nothing else.
  init() {
    let file = g_key_file_new()
    defer { g_key_file_free(file) }
    guard g_key_file_load_from_file(file, Self.path, G_KEY_FILE_NONE, nil) != 0 else { return }
    func number(_ key: String) -> Int32? {
      let number = g_key_file_get_integer(file, Self.group, key, nil)
      return (200...10_000).contains(number) ? number : nil
    }
    width = number("Width") ?? width
    height = number("Height") ?? height
    isMaximized = g_key_file_get_boolean(file, Self.group, "Maximized", nil) != 0
    if let text = g_key_file_get_string(file, Self.group, "Page", nil) {
      page = String(cString: text)
      g_free(text)
    }
  }

  /// Without effect if the file cannot be written: the window then opens with its default size.
  func save() {
    let file = g_key_file_new()
    defer { g_key_file_free(file) }
    g_key_file_set_integer(file, Self.group, "Width", width)
    g_key_file_set_integer(file, Self.group, "Height", height)
    g_key_file_set_boolean(file, Self.group, "Maximized", isMaximized ? 1 : 0)
    g_key_file_set_string(file, Self.group, "Page", page)
    g_mkdir_with_parents(Self.folder, 0o700)
    g_key_file_save_to_file(file, Self.path, nil)
  }
}
