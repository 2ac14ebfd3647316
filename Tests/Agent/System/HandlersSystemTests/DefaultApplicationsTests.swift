import EventLoop
import Glibc
import Handlers
import Routing
import TestKit
import Testing

@testable import HandlersTests

@Suite struct DefaultApplicationsTests {
  /// GLib reads the environment once per process, so this test runs in its own process.
  @Test func `GIO reads the default application of a scheme from mimeapps.list`() async throws {
    await #expect(processExitsWith: .success) {
      let data = try DataDirectory()
      setenv("XDG_DATA_HOME", data.temporary.file("user"), 1)
      setenv("XDG_DATA_DIRS", data.temporary.file("system"), 1)
      setenv("XDG_CONFIG_HOME", data.temporary.file("config"), 1)
      setenv("XDG_CONFIG_DIRS", data.temporary.file("none"), 1)
      for id in ["first", "second"] {
        try data.entry(
          id, ["Exec=true %u", "Icon=\(id)", "MimeType=x-scheme-handler/https;"], claims: [], implements: false)
      }
      try data.temporary.write(
        "[Default Applications]\nx-scheme-handler/https=second.desktop\nx-scheme-handler/tel=third.desktop\n"
          + "x-scheme-handler/mailto=fourth.desktop\n", to: "config/mimeapps.list")
      // Its id is not a bus name, so it cannot be called.
      try data.entry(
        "third", ["Exec=true %u", "DBusActivatable=true", "MimeType=x-scheme-handler/tel;"], claims: [],
        implements: false)
      // It accepts no link, so it cannot open one.
      try data.entry("fourth", ["Exec=true", "MimeType=x-scheme-handler/mailto;"], claims: [], implements: false)
      let handlers = HandlerRegistry(directories: DataDirectories(), on: EventLoop(label: "test"))
      await handlers.reload()
      let route = await handlers.registry.route(for: "https://example.com/")
      let file = data.temporary.file("system/applications/second.desktop")
      let expected = Application(
        desktopID: "second.desktop", name: "second", icon: "second", file: file,
        // Only root's files can be the system's.
        origin: getuid() == 0 ? .system : .user)
      #expect(route.kind == .default)
      #expect(route.handler == expected)
      #expect(await handlers.registry.unusableDefaults["tel"]?.contains("must be a D-Bus name") == true)
      #expect(await handlers.registry.defaults["mailto"] == nil)
      #expect(await handlers.registry.unusableDefaults["mailto"]?.contains("neither %u nor %U") == true)
    }
  }
}
