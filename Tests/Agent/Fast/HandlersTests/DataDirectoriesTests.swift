import EventLoop
import Glibc
import Routing
import Testing

@testable import Handlers

@Suite struct DataDirectoriesTests {
  @Test func `without XDG_DATA_DIRS the exports of Flatpak and Snap are searched last`() {
    let directories = DataDirectories(environment: ["HOME": "/home/me"])
    #expect(
      directories.applications == [
        "/home/me/.local/share/applications", "/usr/local/share/applications", "/usr/share/applications",
        "/home/me/.local/share/flatpak/exports/share/applications", "/var/lib/flatpak/exports/share/applications",
        "/var/lib/snapd/desktop/applications",
      ])
  }

  @Test func `XDG_DATA_DIRS replaces the default directories`() {
    let directories = DataDirectories(environment: [
      "XDG_DATA_HOME": "/home/me/data/",
      "XDG_DATA_DIRS": "/var/lib/flatpak/exports/share/:/usr/share/:/usr/share:relative:/home/me/data:/",
    ])
    #expect(
      directories.applications == [
        "/home/me/data/applications", "/var/lib/flatpak/exports/share/applications", "/usr/share/applications",
        "//applications",
      ])
  }

  @Test(
    arguments: [
      ("/usr/share/applications/a.desktop", true, .system), ("/usr/share/applications/a.desktop", false, .user),
      ("/opt/anything/applications/a.desktop", true, .system), ("/home/other/applications/a.desktop", false, .user),
      ("/home/me/data/applications/a.desktop", true, .user), ("/home/me/data/applications/a.desktop", false, .user),
      ("/var/lib/flatpak/exports/share/applications/a.desktop", true, .store),
      ("/var/lib/snapd/desktop/applications/a.desktop", true, .store),
      ("/snap/menu/current/meta/gui/a.desktop", true, .store),
      ("/var/lib/snapd/snap/menu/current/meta/gui/a.desktop", true, .store),
      ("/var/lib/flatpak/runtime/org.example/x86_64/1/active/files/share/applications/a.desktop", true, .store),
      ("/media/me/disk/share/applications/a.desktop", true, .user),
      ("/run/media/me/disk/share/applications/a.desktop", true, .user),
      ("/mnt/share/applications/a.desktop", true, .user), ("/opt/mnt/applications/a.desktop", true, .system),
      ("/home/me/data/flatpak/exports/share/applications/a.desktop", true, .user),
    ] as [(String, Bool, Application.Origin)])
  func `the origin of an entry depends on who can change it`(file: String, isRoots: Bool, origin: Application.Origin) {
    let directories = DataDirectories(user: "/home/me/data", system: ["/usr/share", "/opt/anything"])
    #expect(directories.origin(of: file, ownership: FileOwnership { _ in isRoots }) == origin)
  }

  @Test(arguments: [
    ("X-Flatpak=org.example.Menu", "system", Application.Origin.store),
    ("X-SnapInstanceName=menu", "system", .store), ("X-Flatpak=org.example.Menu", "user", .user),
    ("X-Other=menu", "system", .system),
  ])
  func `a system entry exported by Flatpak or Snap has the origin store`(
    line: String, directory: String, origin: Application.Origin
  ) throws {
    let data = try DataDirectory()
    try data.entry("org.example.Menu", in: directory, ["Exec=true %u", line])
    let scan = data.scan()
    #expect(scan.declarations.map(\.application.origin) == [origin])
  }

  @Test func `the base directory specification is followed`() {
    let defaults = DataDirectories(environment: ["HOME": "/home/a", "XDG_DATA_DIRS": ""])
    #expect(defaults.user == "/home/a/.local/share")
    #expect(defaults.system.prefix(2) == ["/usr/local/share", "/usr/share"])
    #expect(defaults.configuration == ["/home/a/.config", "/etc/xdg"])
    let given = DataDirectories(environment: [
      "XDG_DATA_HOME": "/u", "XDG_DATA_DIRS": "relative:/a::/b", "XDG_CONFIG_HOME": "/c", "XDG_CONFIG_DIRS": "/d:/e",
    ])
    #expect(
      given
        == DataDirectories(
          user: "/u", system: ["/a", "/b"], configuration: ["/c", "/d", "/e"], userConfiguration: "/c"))
    #expect(DataDirectories(environment: [:]).user == nil)
  }

  @Test(
    arguments: [
      (["LANG": "de_AT.UTF-8@euro"], ["de_AT@euro", "de_AT", "de@euro", "de"]),
      (["LANG": "ja_JP.UTF-8", "LC_MESSAGES": "ko_KR"], ["ko_KR", "ko"]),
      (["LANG": "en_GB", "LANGUAGE": "fr:de_DE"], ["fr", "de_DE", "de", "en_GB", "en"]),
      (["LANG": "C", "LANGUAGE": "fr"], []),
      (["LC_ALL": "C.UTF-8", "LANG": "de"], []),
      ([:], []),
    ] as [([String: String], [String])])
  func `languages are listed from the most specific to the most general`(
    environment: [String: String], expected: [String]
  ) {
    #expect(LanguagePreference.languages(in: environment) == expected)
  }
}

@Suite struct WatchPlanTests {
  @Test func `events of unwatched folders are ignored, and lost events always matter`() {
    var plan = WatchPlan()
    #expect(!plan.knows(1) && !plan.matters(event(1, "menu.desktop")))
    plan.watch("/applications", as: .init(number: 1, missing: nil))
    #expect(plan.knows(1) && plan.matters(event(1, "menu.desktop")))
    #expect(WatchPlan().matters(.lost))
  }

  private func event(_ number: Int32, _ name: String, _ mask: Int32 = IN_CLOSE_WRITE) -> DirectoryWatch.Event {
    DirectoryWatch.Event(number: number, mask: UInt32(bitPattern: mask), name: name)
  }

  @Test func `only events that affect a watched name matter`() {
    var plan = WatchPlan()
    plan.watch("/data/applications", as: .init(number: 1, missing: nil))
    plan.watch("/home/none/applications", as: .init(number: 2, missing: "none"))
    plan.watch(file: "/tmp/rules.json", as: .init(number: 3, missing: nil))
    plan.watch(file: "/tmp/none/rules.json", as: .init(number: 3, missing: "none"))
    plan.watch(file: "/etc/x.json", as: nil)
    #expect(plan.reached == ["/data/applications", "/tmp/rules.json"])
    #expect(plan.numbers == [1, 2, 3])
    for (event, expected) in [
      (event(1, "menu.desktop"), true), (event(1, "menu.json"), false),
      (event(1, "folder", IN_CREATE | IN_ISDIR), true),
      (event(1, "", IN_DELETE_SELF), true), (event(2, "other", IN_CREATE | IN_ISDIR), false),
      (event(2, "none", IN_CREATE | IN_ISDIR), true), (event(3, "rules.json"), true), (event(3, "menu.desktop"), false),
      (event(3, "folder", IN_CREATE | IN_ISDIR), false), (event(3, "none", IN_CREATE | IN_ISDIR), true),
      (event(3, "", IN_MOVE_SELF), true), (event(4, "menu.desktop"), false), (event(-1, "", IN_Q_OVERFLOW), true),
    ] {
      #expect(plan.matters(event) == expected, "\(event)")
    }
  }
}
