import CGIO
package import Handlers
import Routing

/// Here rather than in `Handlers`, so that the command line, which looks up none, starts without the libraries of GIO.
extension DefaultApplications {
  /// A lookup by GIO, which reads `mimeapps.list` in the order of the MIME Applications Associations specification.
  ///
  /// GIO uses the directories of the process's environment as they were at its first lookup. It reads files, so do not
  /// call it on a loop. Pass the same directories, which tell which applications are the system's.
  package static func gio(_ directories: DataDirectories) -> Lookup {
    { scheme in g_app_info_get_default_for_uri_scheme(scheme).flatMap { application($0, directories) } }
  }

  /// For media types: the application opens a file.
  ///
  /// GIO follows the aliases and the parents of shared-mime-info: a text editor may be the default of all texts.
  package static func gioByType(_ directories: DataDirectories) -> Lookup {
    { type in g_app_info_get_default_for_type(type, 0).flatMap { application($0, directories) } }
  }

  /// Releases `information`.
  private static func application(_ information: OpaquePointer, _ directories: DataDirectories) -> Application? {
    // The only GAppInfo on Linux is GDesktopAppInfo. Swift sees both as opaque pointers, so no cast is needed.
    defer { g_object_unref(UnsafeMutableRawPointer(information)) }
    guard let id = text(g_app_info_get_id(information)), let file = text(g_desktop_app_info_get_filename(information))
    else { return nil }
    var icon: String?
    if let object = g_app_info_get_icon(information), let name = g_icon_to_string(object) {
      icon = String(cString: name)
      g_free(name)
    }
    return application(
      id, file, name: text(g_app_info_get_display_name(information)), icon: icon,
      isDBusActivatable: g_desktop_app_info_get_boolean(information, "DBusActivatable") != 0,
      isExported: DataDirectories.storeKeys.contains { g_desktop_app_info_has_key(information, $0) != 0 },
      in: directories)
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}
