import Dispatch
import EventLoop
import Glibc
import Rig
import Settings
import Testing

@testable import Handlers
@testable import Routing

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
    (["Exec=menu"], ["Domain=a.example;"], "Domain= is not a key; did you mean Domains=?"),
    (["Exec=menu"], ["Scheme=x-menu;"], "Scheme= is not a key; did you mean Schemes=?"),
    (["Exec=menu"], ["MimeType=text/vcard;"], "MimeType= is not a key; did you mean MimeTypes=?"),
    (["Exec=menu"], ["ExternalType=a.example:b;"], "ExternalType= is not a key; did you mean ExternalTypes=?"),
    (
      ["Exec=menu"], ["Domains=https://a.example/;"],
      "https://a.example/ is not a domain or *. and a domain: write only the host name: a.example"
    ),
    (
      ["Exec=menu"], ["Domains=https://a.example:8080/;"],
      "https://a.example:8080/ is not a domain or *. and a domain: write only the host name: a.example"
    ),
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

/// Types of records in desktop entries, in the user's choices and in the names of files.
@Suite struct RecordClaimsTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  @Test func `types of desktop entries are read, and mistakes are named`() async throws {
    try data.entry(
      "good", claims: ["MimeTypes=TEXT/vCard;image/*;", "ExternalTypes=Example.com:Coupon;"])
    try data.entry(
      "bad", claims: ["MimeTypes=vcard;*/*;x-scheme-handler/tel;", "ExternalTypes=coupon;android.com:pkg;"])
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.map(\.types) == [["text/vcard", "image/*", "example.com:coupon"]])
    #expect(
      problems.map(\.message)
        == ["vcard", "*/*", "x-scheme-handler/tel"].map { "\($0) is not a media type or type/*" }
        + ["coupon", "android.com:pkg"].map { "\($0) is not an external type, such as example.com:ticket" })
    #expect(problems.allSatisfy { $0.desktopID == "bad.desktop" && $0.line != nil })
  }

  @Test func `choices about types are kept`() throws {
    let files = ChoiceFiles(directory: data.temporary.path)
    let application = Application(
      desktopID: "cards.desktop", name: "Cards", file: "/usr/share/applications/cards.desktop", origin: .system,
      launch: "cards %f")
    var choices = HandlerChoices()
    for claim in ["text/vcard", "image/*", "example.com:coupon"] {
      let isPossible = choices.apply(.prefer(application, claim: claim))
      #expect(isPossible)
    }
    let isBlocked = choices.apply(.block(desktopID: "other.desktop", claim: "image/*"))
    #expect(isBlocked)
    let (intents, handlers) = files.write(choices, over: HandlerChoices())
    #expect(intents == nil && handlers == nil)
    let content = files.read()
    #expect(content.choices == choices && content.problems.isEmpty)
  }

  @Test func `the extension is that of the database, if it is plain`() throws {
    let environment = ["XDG_DATA_HOME": data.temporary.file("data"), "XDG_DATA_DIRS": data.temporary.file("none")]
    try data.temporary.write(
      "80:image/x-good:*.good\n50:image/x-good:*.bad\n50:image/x-odd:*.a/../b\n50:image/x-odd:*.odd\n"
        + "50:image/x-long:*.\(String(repeating: "x", count: 40))\n50:image/x-name:makefile\n",
      to: "data/mime/globs2")
    func suffix(_ type: String) -> String? { FileExtension.of(type, environment: environment) }
    #expect(suffix("image/x-good") == "good")
    #expect(suffix("image/x-odd") == "odd")
    #expect(suffix("image/x-long") == nil)
    #expect(suffix("image/x-name") == nil)
    #expect(suffix("text/calendar") == "ics")
  }

  @Test func `each type that a default application may get has an extension without a database`() {
    let environment = ["XDG_DATA_HOME": data.temporary.file("none"), "XDG_DATA_DIRS": data.temporary.file("none")]
    let without = RecordType.files.filter { FileExtension.of($0, environment: environment) == nil }
    #expect(without.isEmpty && !RecordType.files.isEmpty)
  }

  @Test func `the link to a file has only unreserved characters`() {
    #expect(HandOverContents.address(ofFile: "/run/a b%/ü#?.vcf") == "file:///run/a%20b%25/%C3%BC%23%3F.vcf")
  }

  @Test func `an invalid activation token is dropped`() {
    for token in ["", "a b", "a\nb", "a\0b", "é", String(repeating: "a", count: 1025)] {
      #expect(Launcher.Click(activationToken: token).activationToken == nil)
    }
    #expect(Launcher.Click(activationToken: "gnome-shell/x/1-2-host_TIME3").activationToken != nil)
  }
}

/// Properties of entries read from files: routes depend neither on the order of installation nor on unrelated files.
@Suite(.timeLimit(.minutes(5))) struct FileOrderTests {
  private static let claims = ["a.example", "*.a.example", "b.a.example", "d.example", "*.d.example"]
  private static let links =
    ["a.example", "b.a.example", "c.b.a.example", "d.example", "x.d.example", "elsewhere.example"].map {
      "https://\($0)/"
    } + ["x-menu:1"]

  private struct File {
    let id: String
    let directory: String
    let claims: [String]
  }

  private func files(using random: inout SeededGenerator) -> [File] {
    (0..<12).map { _ in
      // Few names, so that ids collide: in another directory, or as a file in a folder and a file with a dash.
      let id = ["a", "b", "c", "v/a", "v-a", "v/b", "v-b"].randomElement(using: &random) ?? "a"
      let directory = ["user", "system", "lesser"].randomElement(using: &random) ?? "user"
      let domains = Self.claims.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
      return File(
        id: id, directory: directory,
        claims: [
          "Domains=\(domains.joined(separator: ";"));", "Schemes=\(Bool.random(using: &random) ? "x-menu;" : "")",
        ])
    }
  }

  /// The decision for each link. File names are relative to the temporary directory.
  private func decisions(_ files: [File]) throws -> [[String]] {
    let data = try DataDirectory()
    for file in files { try data.entry(file.id, in: file.directory, claims: file.claims) }
    let scan = data.scan()
    let registry = Registry(declarations: scan.declarations)
    return Self.links.map { link in
      let route = registry.route(for: link)
      return [route.kind.rawValue, "\(route.trusted)", route.reason]
        + route.candidates.map { String($0.file.dropFirst(data.temporary.path.count)) }
        + route.steps.map(\.description)
    }
  }

  @Test(arguments: 1...25 as ClosedRange<UInt64>)
  func `neither the order in which files are written nor an unrelated or broken entry matters`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Each path is written once, because a second file would overwrite the first.
    var seen: Set<String> = []
    let files = files(using: &random).filter { seen.insert("\($0.directory)/\($0.id)").inserted }
    let expected = try decisions(files)
    #expect(try decisions(files.shuffled(using: &random)) == expected)
    var more = files
    for id in ["0-first", "zz/last", "v/between"] {
      let directory = ["user", "system", "lesser"].randomElement(using: &random) ?? "user"
      let claims =
        Bool.random(using: &random) ? ["Domains=other.example;*.other.example;", "Schemes=x-other;"] : ["Domains=-;"]
      more.append(File(id: id, directory: directory, claims: claims))
    }
    #expect(try decisions(more.shuffled(using: &random)) == expected)
  }
}

/// The limits of a scan of a user's desktop entries. System entries are read in any case.
@Suite(.timeLimit(.minutes(5))) struct BoundedScanTests {
  private let data: DataDirectory
  private var user: String { "\(data.directories.user ?? "")/applications" }

  init() throws { data = try DataDirectory() }

  @Test func `a link to the root directory is not followed, but a link to a single file is`() throws {
    try data.entry("mine", in: "user", claims: ["Domains=mine.example;"])
    let target = try data.entry("linked", in: "elsewhere", claims: ["Domains=linked.example;"])
    #expect(symlink(target, "\(user)/linked.desktop") == 0)
    #expect(symlink("/", "\(user)/root") == 0)
    let scan = data.scan()
    #expect(scan.directories == [user])
    #expect(scan.problems.map(\.file) == ["\(user)/root"])
    #expect(scan.declarations.map(\.application.desktopID) == ["linked.desktop", "mine.desktop"])
  }

  @Test func `an application directory that is a symbolic link is read with its subfolders`() throws {
    try data.entry("vendor/menu", in: "exports")
    #expect(symlink(data.temporary.file("exports"), data.directories.system[0]) == 0)
    let scan = data.scan()
    #expect(scan.problems.isEmpty)
    #expect(scan.declarations.map(\.application.desktopID) == ["vendor-menu.desktop"])
  }

  @Test func `folders over the depth limit are reported once`() throws {
    try data.entry("1/2/3/4/5/6/7/8/menu", in: "user")
    try data.entry("1/2/3/4/5/6/7/8/9/lost", in: "user")
    try data.entry("1/2/3/4/5/6/7/8/a/lost", in: "user")
    let scan = data.scan()
    #expect(scan.declarations.map(\.application.desktopID) == ["1-2-3-4-5-6-7-8-menu.desktop"])
    #expect(scan.problems.map(\.file) == ["\(user)/1/2/3/4/5/6/7/8/9"])
  }

  @Test func `user entries with too many claims are skipped, and system entries are still read`() throws {
    try data.entry("zzz", claims: ["Domains=system.example;"])
    let list = (0..<60_000).map { "d\($0).example;" }.joined()
    let most = HandlerScan.maximumClaimSize / list.utf8.count
    for number in 0..<most + 3 { try data.entry("a\(100 + number)", in: "user", claims: ["Domains=\(list)"]) }
    let scan = data.scan()
    #expect(scan.problems.last { $0.file == user }?.message.hasPrefix("there are more than 8 MiB") == true)
    #expect(scan.problems.allSatisfy { !$0.file.contains("a\(100 + most + 1).desktop") }, "the entry was parsed")
    #expect(scan.declarations.map(\.application.desktopID).contains("zzz.desktop"))
  }

  @Test func `entries without claims are read up to a limit, including those rejected for their size`() throws {
    let target = try data.temporary.write([UInt8](repeating: 10, count: KeyFile.maximumSize + 2), to: "giant")
    try data.entry("zzz", in: "user")
    let most = HandlerScan.maximumSize / KeyFile.maximumSize
    for number in 0..<most + 3 { #expect(symlink(target, "\(user)/a\(100 + number).desktop") == 0) }
    let scan = data.scan()
    #expect(scan.problems.first { $0.file == user }?.message.hasPrefix("there are more than 64 MiB") == true)
    #expect(scan.declarations.isEmpty)
  }

  @Test func `at startup system apps are available before user entries are read`() async throws {
    try data.entry("system", claims: ["Domains=system.example;"])
    try data.entry("mine", in: "user", claims: ["Domains=mine.example;"])
    // The last step of a scan looks up default applications. The gate holds it until the test has seen the system's apps.
    let gate = DispatchSemaphore(value: 0)
    let handlers = HandlerRegistry(
      directories: data.directories, environment: data.environment, ownership: data.ownership,
      defaultApplication: { _ in
        gate.wait()
        gate.signal()
        return nil
      }, on: EventLoop(label: "test"))
    var changes = await handlers.changes().makeAsyncIterator()
    async let start: Void = handlers.start()
    await changes.next()
    #expect(await handlers.registry.declarations.map(\.application.desktopID) == ["system.desktop"])
    gate.signal()
    await start
    #expect(await handlers.registry.declarations.map(\.application.desktopID) == ["system.desktop", "mine.desktop"])
  }

  @Test func `GIO is not called if its scan would not end, and earlier defaults still apply`() async throws {
    let file = try data.entry("browser", claims: [], implements: false)
    try data.entry("mine", in: "user", claims: ["Domains=mine.example;"])
    let browser = Application(desktopID: "browser.desktop", name: "Browser", file: file, origin: .system)
    let handlers = data.registry(on: EventLoop(label: "test"), default: browser)
    await handlers.reload()
    // Each link leads back to its own folder. GIO would follow both links at each of forty levels.
    for name in ["a", "b"] { #expect(symlink(".", "\(user)/\(name)") == 0) }
    await handlers.reload()
    #expect(await handlers.problems.map(\.file) == [user])
    #expect(await handlers.registry.route(for: "https://example.com/").handler == browser)

    let later = data.registry(on: EventLoop(label: "test"), default: browser)
    await later.reload()
    #expect(await later.registry.route(for: "https://mine.example/").handler?.desktopID == "mine.desktop")
    let route = await later.registry.route(for: "https://example.com/")
    #expect(route.handler == nil)
    #expect(route.reason.contains("no default application is looked up"))
  }
}
