import EventLoop
import Glibc
import Handlers
import Routing
import TestSupport
import Testing

@Suite struct DefaultApplicationsTests {
  /// GLib reads the environment once a process, hence a process of this test's own.
  @Test("GIO names the default application of a scheme by mimeapps.list")
  func gio() async throws {
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
        "[Default Applications]\nx-scheme-handler/https=second.desktop\n", to: "config/mimeapps.list")
      let handlers = HandlerRegistry(directories: DataDirectories(), on: EventLoop(label: "test"))
      await handlers.reload()
      let route = await handlers.registry.route(for: "https://example.com/")
      let file = data.temporary.file("system/applications/second.desktop")
      let expected = Application(
        desktopID: "second.desktop", name: "second", icon: "second", file: file, origin: .system)
      #expect(route.kind == .default)
      #expect(route.handler == expected)
      #expect(await handlers.registry.defaults["mailto"] == nil)
    }
  }
}

@Suite struct DataDirectoriesTests {
  @Test("follows the base directory specification")
  func environment() {
    let defaults = DataDirectories(environment: ["HOME": "/home/a", "XDG_DATA_DIRS": ""])
    #expect(defaults.user == "/home/a/.local/share")
    #expect(defaults.system == ["/usr/local/share", "/usr/share"])
    #expect(defaults.configuration == ["/home/a/.config", "/etc/xdg"])
    let given = DataDirectories(environment: [
      "XDG_DATA_HOME": "/u", "XDG_DATA_DIRS": "relative:/a::/b", "XDG_CONFIG_HOME": "/c", "XDG_CONFIG_DIRS": "/d:/e",
    ])
    #expect(given == DataDirectories(user: "/u", system: ["/a", "/b"], configuration: ["/c", "/d", "/e"]))
    #expect(DataDirectories(environment: [:]).user == nil)
  }

  @Test(
    "lists languages from the closest to the widest",
    arguments: [
      (["LANG": "de_AT.UTF-8@euro"], ["de_AT@euro", "de_AT", "de@euro", "de"]),
      (["LANG": "ja_JP.UTF-8", "LC_MESSAGES": "ko_KR"], ["ko_KR", "ko"]),
      (["LANG": "en_GB", "LANGUAGE": "fr:de_DE"], ["fr", "de_DE", "de", "en_GB", "en"]),
      (["LANG": "C", "LANGUAGE": "fr"], []),
      (["LC_ALL": "C.UTF-8", "LANG": "de"], []),
      ([:], []),
    ] as [([String: String], [String])])
  func languages(environment: [String: String], expected: [String]) {
    #expect(LanguagePreference.languages(in: environment) == expected)
  }
}
