import Routing
import Testing

@testable import Handlers

@Suite struct DataDirectoriesTests {
  @Test("without XDG_DATA_DIRS what Flatpak and Snap export is looked at, behind all others and not trusted")
  func unset() {
    let directories = DataDirectories(environment: ["HOME": "/home/me"])
    #expect(
      directories.applications.map(\.path) == [
        "/home/me/.local/share/applications", "/usr/local/share/applications", "/usr/share/applications",
        "/home/me/.local/share/flatpak/exports/share/applications", "/var/lib/flatpak/exports/share/applications",
        "/var/lib/snapd/desktop/applications",
      ])
    #expect(directories.applications.map(\.origin) == [.user, .system, .system, .user, .user, .user])
  }

  @Test("XDG_DATA_DIRS says all where it is set")
  func set() {
    let directories = DataDirectories(environment: [
      "XDG_DATA_HOME": "/home/me/data/",
      "XDG_DATA_DIRS": "/var/lib/flatpak/exports/share/:/usr/share/:/usr/share:relative:/home/me/data:/",
    ])
    #expect(
      directories.applications.map(\.path) == [
        "/home/me/data/applications", "/var/lib/flatpak/exports/share/applications", "/usr/share/applications",
        "//applications",
      ])
    #expect(directories.applications.map(\.origin) == [.user, .user, .system, .system])
    #expect(directories.origin(of: "/usr/share/applications/menu.desktop") == .system)
    #expect(directories.origin(of: "/home/me/data/applications/menu.desktop") == .user)
  }

  @Test("follows the base directory specification")
  func environment() {
    let defaults = DataDirectories(environment: ["HOME": "/home/a", "XDG_DATA_DIRS": ""])
    #expect(defaults.user == "/home/a/.local/share")
    #expect(defaults.system.prefix(2) == ["/usr/local/share", "/usr/share"])
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
