import EventLoop
import Glibc
import Rig
import Routing
import Testing

@testable import Handlers

@Suite struct HandlerScanTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  private func handler(of uri: String) async -> Application? { await data.loaded().registry.route(for: uri).handler }

  @Test func `the fields and claims of an entry are read`() async throws {
    let file = try data.entry(
      "org.example.Menu", ["Name[de]=Karte", "Icon=menu", "DBusActivatable=true", "NoDisplay=true"],
      claims: ["Domains=menu.example.com;*.example.org", "Schemes=X-Menu;"])
    let (registry, problems) = await data.loaded()
    #expect(problems.isEmpty)
    let expected = Application(
      desktopID: "org.example.Menu.desktop", name: "org.example.Menu", icon: "menu", file: file,
      isDBusActivatable: true, origin: .system, launch: "D-Bus")
    for uri in ["https://menu.example.com/", "https://a.example.org/", "x-menu:1"] {
      #expect(registry.route(for: uri).handler == expected, "\(uri)")
    }
    #expect(registry.route(for: "https://example.org/").handler == nil)
  }

  @Test func `an application is named in the user's language`() async throws {
    try data.entry("org.example.Menu", ["Exec=true", "Name[de]=Karte", "Name[de_AT]=Speisekarte"])
    for (locale, name) in [("de_AT.UTF-8", "Speisekarte"), ("de_DE.UTF-8", "Karte"), ("C.UTF-8", "org.example.Menu")] {
      let handlers = HandlerRegistry(
        directories: data.directories, environment: ["LANG": locale], defaultApplication: { _ in nil },
        on: EventLoop(label: "test"))
      await handlers.reload()
      #expect(await handlers.registry.declarations.first?.application.name == name, "\(locale)")
    }
  }

  @Test func `the first directory with an id applies, and a user entry is not trusted`() async throws {
    try data.entry("org.example.Menu", in: "lesser", claims: ["Domains=lesser.example;"])
    try data.entry("org.example.Menu", in: "system", claims: ["Domains=system.example;"])
    #expect(await data.loaded().registry.route(for: "https://system.example/").trusted)
    #expect(await handler(of: "https://lesser.example/") == nil)
    try data.entry("org.example.Menu", in: "user", claims: ["Domains=user.example;"])
    let registry = await data.loaded().registry
    #expect(registry.route(for: "https://user.example/").handler?.origin == .user)
    #expect(!registry.route(for: "https://user.example/").trusted)
    #expect(registry.route(for: "https://system.example/").handler == nil)
  }

  @Test func `an entry that is hidden or not a handler hides later entries with the same id`() async throws {
    try data.entry("hidden", in: "lesser")
    try data.entry("hidden", in: "system", ["Hidden=true"])
    try data.entry("other", in: "lesser", claims: ["Domains=other.example;"])
    try data.entry("other", in: "system", claims: [], implements: false)
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.isEmpty)
    #expect(problems.isEmpty)
  }

  @Test func `folder names become part of the id`() async throws {
    try data.entry("vendor/sub/menu")
    try data.entry("vendor-sub-menu", in: "user", claims: ["Domains=user.example;"])
    let (registry, _) = await data.loaded()
    #expect(registry.declarations.map(\.application.desktopID) == ["vendor-sub-menu.desktop"])
    #expect(registry.declarations.first?.application.origin == .user)
  }

  @Test func `an entry whose TryExec is not installed is skipped without a problem`() async throws {
    try data.entry("gone", ["Exec=gone %u", "TryExec=surely-not-installed"])
    try data.temporary.write("", to: "bin/installed", mode: 0o755)
    try data.entry("here", ["Exec=installed %u", "TryExec=installed"], claims: ["Domains=here.example;"])
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.map(\.application.desktopID) == ["here.desktop"])
    #expect(problems.isEmpty)
  }

  @Test func `entries in the draft formats of other desktops are read`() async throws {
    try data.entry(
      "supports", ["Exec=true", "[org.freedesktop.UriHandler]", "Supports=supports.example;"], claims: [],
      implements: false)
    try data.entry(
      "type", ["Exec=true", "MimeType=text/html;x-url-handler/type.example;"], claims: [], implements: false)
    try data.entry(
      "patterns", ["Exec=true", "[org.freedesktop.UriHandler]", "Supports=patterns.example;", "Patterns=/a/*;"],
      claims: [], implements: false)
    let (registry, problems) = await data.loaded()
    #expect(registry.route(for: "https://supports.example/").handler?.desktopID == "supports.desktop")
    #expect(registry.route(for: "https://type.example/").handler?.desktopID == "type.desktop")
    #expect(registry.route(for: "https://patterns.example/").handler == nil)
    #expect(problems.map(\.message) == ["Patterns= is not supported; the group is left out"])
  }

  @Test(arguments: [
    (["Exec="], ["Domains=a.example;"], "there is neither Exec nor DBusActivatable=true"),
    (["Exec=menu \"%u\""], ["Domains=a.example;"], "Exec cannot be run: it has a field code inside quotes"),
    (
      ["Exec=menu", "Type=Link"], ["Domains=a.example;"], "Type is not Application; only applications can be handlers"
    ),
    (["Exec=menu", "Name="], ["Domains=a.example;"], "there is no Name"),
    (["Exec=menu", "Terminal=yes"], ["Domains=a.example;"], "Terminal is neither true nor false"),
    (
      ["Exec=menu", "Terminal=true"], ["Domains=a.example;"],
      "a handler gets the message on its standard input and cannot use a terminal"
    ),
    (["Exec=menu"], [], "the group [org.tagroute.Handler1] with Domains=, Schemes= or MimeTypes= is missing"),
    (["Exec=menu"], ["Domains="], "it claims no domain, no scheme and no type"),
    (["Exec=menu"], ["Schemes=https;"], "https links go by domain: use Domains="),
    (["Exec=menu"], ["Schemes=javascript;"], "javascript cannot be claimed"),
    (["Exec=menu"], ["Schemes=a b;"], "a b cannot be claimed"),
  ])
  func `a broken entry is reported and affects no other entry`(lines: [String], claims: [String], message: String)
    async throws
  {
    let file = try data.entry("broken", lines, claims: claims)
    try data.entry("good", claims: ["Domains=good.example;"])
    let (registry, problems) = await data.loaded()
    #expect(problems.map(\.message) == [message])
    #expect(problems.map(\.file) == [file])
    #expect(problems.first?.line != nil)
    #expect(registry.declarations.map(\.application.desktopID) == ["good.desktop"])
  }

  @Test func `a broken domain is reported and affects no other domain`() async throws {
    try data.entry("menu", claims: ["Domains=https://no.example/;*.com;menu.example.com;"])
    let (registry, problems) = await data.loaded()
    #expect(registry.route(for: "https://menu.example.com/").kind == .universalLink)
    #expect(problems.count == 2)
    #expect(problems.allSatisfy { $0.line == 7 }, "\(problems)")
  }

  @Test func `an id that is not a bus name cannot be activated over D-Bus`() async throws {
    for id in ["menu", "org.example.7menu", "org..menu", "org.exa mple.menu"] {
      try data.entry(id, ["DBusActivatable=true"])
    }
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.isEmpty)
    #expect(problems.count == 4)
  }

  @Test func `pipes, directories, dangling links, binary and oversized files do not stop the scan`() async throws {
    try data.entry("good")
    let folder = "\(data.directories.system[0])/applications"
    #expect(mkfifo("\(folder)/pipe.desktop", 0o600) == 0)
    #expect(mkdir("\(folder)/folder.desktop", 0o700) == 0)
    #expect(symlink("/nonexistent/a", "\(folder)/dangling.desktop") == 0)
    #expect(symlink(folder, "\(folder)/loop") == 0)
    try data.temporary.write(
      Array("[Desktop Entry]\nMimeType=x-url-handler/a;\nName=".utf8) + [0xFF, 10],
      to: "system/applications/binary.desktop")
    try data.temporary.write(String(repeating: "#\n", count: 600_000), to: "system/applications/giant.desktop")
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.map(\.application.desktopID).contains("good.desktop"))
    let names = problems.map { $0.file.split(separator: "/").last.map(String.init) ?? "" }
    #expect(
      Set(names).isSuperset(of: ["pipe.desktop", "folder.desktop", "binary.desktop", "giant.desktop"]), "\(problems)")
  }

  @Test(.timeLimit(.minutes(5))) func `symbolic links that form loops are followed once`() async throws {
    try data.entry("good")
    let folder = "\(data.directories.system[0])/applications"
    for name in ["a", "b", "c", "d", "e", "f"] {
      try data.entry("\(name)-folder/menu", claims: ["Domains=\(name).example;"])
      for other in ["a", "b", "c", "d", "e", "f"] {
        #expect(symlink("\(folder)/\(other)-folder", "\(folder)/\(name)-folder/\(other)") == 0)
      }
      #expect(symlink(".", "\(folder)/\(name)") == 0)
    }
    let scan = data.scan()
    #expect(scan.directories == [folder] + scan.directories.dropFirst())
    #expect(scan.directories.count == 7)
    #expect(scan.declarations.count == 7)
    #expect(scan.problems.isEmpty)
  }

  @Test func `too many directories are a problem and affect no other data directory`() async throws {
    try data.entry("good", in: "lesser")
    let folder = "\(data.directories.system[0])/applications"
    #expect(mkdir(data.directories.system[0], 0o700) == 0 && mkdir(folder, 0o700) == 0)
    for number in 0..<HandlerScan.maximumDirectories + 10 { #expect(mkdir("\(folder)/\(number)", 0o700) == 0) }
    let scan = data.scan()
    #expect(scan.directories.filter { $0.hasPrefix(folder) }.count == HandlerScan.maximumDirectories)
    #expect(scan.problems.map(\.file) == [folder])
    #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
  }
}
