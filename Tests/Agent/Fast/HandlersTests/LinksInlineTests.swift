import Rig
import Routing
import Testing

@testable import Handlers

/// `LinksInline=`: path rules in the desktop entry itself, and what Flatpak and snapd make of an entry.
@Suite struct LinksInlineTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  /// An entry with these lines after its claims. The first of them is line 9.
  @discardableResult
  private func entry(_ lines: String..., id: String = "menu") throws -> String {
    try data.entry(id, claims: ["Domains=menu.example.com;", "Schemes=x-menu;"] + lines)
  }

  @Test func `rules in the entry decide as those of a file, and no file is watched`() throws {
    try entry("LinksInline=" + linkRules(#"{"/": "/bill;*", "exclude": true}, {"/": "/t\\u0061ble/*"}"#))
    let scan = data.scan()
    #expect(scan.problems.isEmpty, "\(scan.problems)")
    #expect(scan.linkFiles.isEmpty)
    #expect(scan.handler(of: "https://menu.example.com/table/7") == "menu.desktop")
    #expect(scan.handler(of: "https://menu.example.com/bill;7") == nil)
    #expect(scan.handler(of: "https://menu.example.com/other") == nil)
    #expect(scan.handler(of: "x-menu:bill") == "menu.desktop")
  }

  @Test func `both keys at once are an error, unless one is empty`() throws {
    try data.temporary.write(linkRules("{}"), to: "system/applications/menu.json")
    let file = try entry("LinksInline=" + linkRules("{}"), "Links=menu.json")
    let scan = data.scan()
    #expect(
      scan.problems.map(\.description) == [
        "\(file):9: the entry has both Links= and LinksInline=: remove one of them"
      ])
    #expect(scan.handler(of: "https://menu.example.com/") == nil)
    #expect(scan.handler(of: "x-menu:7") == "menu.desktop")
    for lines in [("LinksInline=", "Links=menu.json"), ("LinksInline=" + linkRules("{}"), "Links=")] {
      try entry(lines.0, lines.1)
      let scan = data.scan()
      #expect(scan.problems.isEmpty, "\(scan.problems)")
      #expect(scan.declarations.first?.links != nil)
      #expect(scan.handler(of: "https://menu.example.com/") == "menu.desktop")
    }
  }

  @Test(
    arguments: [
      // The column is that in the line: `LinksInline=` has 12 characters, and `\\` in front of the error has two.
      (#"LinksInline={"applinks""#, 24, "it is not JSON: the file ends too early"),
      (#"LinksInline = {"applinks""#, 26, "it is not JSON: the file ends too early"),
      (#"LinksInline={"\\u00e9": 1, "applinks""#, 38, "it is not JSON: the file ends too early"),
      (#"LinksInline={"é": 1, "applinks""#, 32, "it is not JSON: the file ends too early"),
      (#"LinksInline={\n"applinks""#, 26, "it is not JSON: the file ends too early"),
      ("LinksInline=" + linkRules("{}", id: "other"), nil, "none of its appIDs is menu.desktop"),
      ("LinksInline=[" + String(repeating: " ", count: 131_073), nil, "is larger than 128 KiB"),
      (#"LinksInline={"\q": 1}"#, nil, "has a backslash that escapes nothing"),
    ] as [(String, Int?, String)])
  func `broken rules in the entry keep it from its domains, and the error is located`(
    line: String, column: Int?, message: String
  ) throws {
    // GLib removes the white space at the end of a line.
    let file = try entry(line + (line.hasSuffix(" ") ? "]" : ""))
    try data.entry("good", claims: ["Domains=good.example;"])
    let scan = data.scan()
    #expect(scan.problems.map(\.file) == [file] && scan.problems.map(\.line) == [9], "\(scan.problems)")
    #expect(scan.problems.map(\.column) == [column], "\(scan.problems)")
    #expect(scan.problems.first?.message.contains("LinksInline=") == true, "\(scan.problems)")
    #expect(scan.problems.first?.message.contains(message) == true, "\(scan.problems)")
    #expect(scan.problems.first?.desktopID == "menu.desktop")
    #expect(scan.handler(of: "https://menu.example.com/") == nil)
    #expect(scan.handler(of: "https://good.example/") == "good.desktop")
  }

  @Test func `rules in entries and in files share one budget`() throws {
    try data.temporary.write(linkRules(largeRules, id: "a"), to: "system/applications/a.json")
    try entry("Links=a.json", id: "a")
    for id in ["b", "c"] { try entry("LinksInline=" + linkRules(largeRules, id: id), id: id) }
    let scan = data.scan()
    #expect(scan.problems.map(\.desktopID) == ["c.desktop"])
    #expect(scan.problems.allSatisfy { $0.message.contains("too many patterns") && $0.line == 9 }, "\(scan.problems)")
  }

  /// As `flatpak build-export` and an installation write it: Flatpak adds an `Exec` to each group, and `X-Flatpak`.
  private func exported(
    _ claims: String..., exec: String = "/bin/true run org.example.Menu @@u %u @@"
  ) throws -> String {
    let lines = ["DBusActivatable=true", "Exec=\(exec)", "X-Flatpak=org.example.Menu"]
    return try data.entry(
      "org.example.Menu", in: "flatpak/exports/share", lines,
      claims: ["Domains=menu.example.com;"] + claims + ["Exec=/usr/bin/flatpak run org.example.Menu"])
  }

  private func problems(_ file: String) -> [String] {
    let environment = data.environment.merging(["XDG_DATA_DIRS": data.temporary.file("share")]) { _, given in given }
    let found =
      HandlerCheck.problems(in: file, environment: environment)
      + [HandlerCheck.missing(for: file, environment: environment)].compactMap(\.self)
    return found.map { $0.description.replacing(data.temporary.path + "/", with: "") }
  }

  @Test func `an export of Flatpak is read with the Exec in our group, and keeps its rules`() throws {
    let file = try exported("LinksInline=" + linkRules(#"{"/": "/table/*"}"#, id: "org.example.Menu"))
    #expect(problems(file).isEmpty)
    let exports = data.temporary.file("flatpak/exports/share")
    let scan = HandlerScan(DataDirectories(user: nil, system: [exports]), environment: data.environment)
    #expect(scan.problems.isEmpty, "\(scan.problems)")
    let application = try #require(scan.declarations.first?.application)
    #expect(application.launch == "D-Bus, /bin/true run org.example.Menu @@u %u @@")
    #expect(scan.handler(of: "https://menu.example.com/table/7") == "org.example.Menu.desktop")
    #expect(scan.handler(of: "https://menu.example.com/bill") == nil)
  }

  @Test(arguments: ["menu.json", "/app/share/menu.json"])
  func `a rules file that Flatpak has not exported is explained`(name: String) throws {
    let found = problems(try exported("Links=\(name)"))
    #expect(found.count == 1)
    #expect(
      found.first?.hasSuffix(
        "\(name): there is no such file, but Links= of org.example.Menu.desktop names it. Flatpak exports no file "
          + "beside the entry: write the rules into LinksInline=") == true, "\(found)")
  }

  @Test func `a Flatpak without a service file whose Exec takes no link is reported`() throws {
    let found = problems(try exported(exec: "/bin/true run org.example.Menu"))
    #expect(
      found == [
        "flatpak/exports/share/applications/org.example.Menu.desktop:5: no service file with Name=org.example.Menu lets "
          + "the bus start it, and Exec takes no link: install org.example.Menu.service into "
          + "/app/share/dbus-1/services of the Flatpak"
      ])
    let gone = problems(try exported(exec: "/usr/bin/surely-not-installed run org.example.Menu"))
    #expect(gone.first?.contains("/app/share/dbus-1/services of the Flatpak; there is no program") == true, "\(gone)")
    try data.temporary.write(
      "[D-BUS Service]\nName=org.example.Menu\nExec=/bin/true\n", to: "share/dbus-1/services/org.example.Menu.service")
    let file = try exported(exec: "/bin/true run org.example.Menu")
    #expect(problems(file).isEmpty)
  }

  /// snapd keeps only lines that it knows, and writes `Exec` and `X-SnapInstanceName` (wrappers/desktop.go).
  @Test func `of an app in a snap only the domains in MimeType are left`() throws {
    let lines = ["X-SnapInstanceName=menu", "Exec=/bin/true %u"]
    let file = try data.entry("menu_menu", lines, claims: [], implements: false)
    #expect(
      problems(file) == [
        "system/applications/menu_menu.desktop: it claims nothing from tags: there is no [org.tagroute.Handler1] with "
          + "Domains=, Schemes=, MimeTypes= or ExternalTypes=, because snapd removes it; in a snap, write MimeType=x-url-handler/DOMAIN;"
      ])
    try data.entry(
      "menu_menu", lines + ["MimeType=x-url-handler/menu.example.com;x-url-handler/*.example.org;"], claims: [],
      implements: false)
    #expect(problems(file).isEmpty)
    let scan = data.scan()
    for uri in ["https://menu.example.com/7", "https://a.example.org/"] {
      #expect(scan.handler(of: uri) == "menu_menu.desktop")
    }
    #expect(scan.declarations.first?.application.origin == .store)
  }
}
