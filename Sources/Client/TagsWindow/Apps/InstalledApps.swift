import CGTK
import EventLoop

/// An app that a rule can open.
nonisolated struct InstalledApp: Sendable, Hashable {
  /// The desktop id.
  let id: String
  let name: String
}

nonisolated extension InstalledApp {
  /// Those that a menu lists, in the order of their names. Reads the desktop entries on a thread of its own.
  @concurrent static func all() async -> [InstalledApp] {
    (try? await DedicatedThread.run(read)) ?? []
  }

  private static func read() -> [InstalledApp] {
    let first = g_app_info_get_all()
    defer { g_list_free_full(first) { g_object_unref($0) } }
    var apps: [InstalledApp] = []
    var next = first
    while let item = next {
      next = item.pointee.next
      guard let app = item.pointee.data.map({ OpaquePointer($0) }), g_app_info_should_show(app) != 0,
        let id = g_app_info_get_id(app), let name = g_app_info_get_display_name(app)
      else { continue }
      apps.append(InstalledApp(id: String(cString: id), name: String(cString: name)))
    }
    return apps.sorted { ($0.name.lowercased(), $0.id) < ($1.name.lowercased(), $1.id) }
  }
}
