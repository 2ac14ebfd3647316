import Glibc
import Rig
import Routing
import Testing

@testable import Handlers

/// `Links=`: the links of its domains that a handler accepts.
@Suite(.timeLimit(.minutes(5))) struct LinkRulesFileTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  private func entry(_ id: String = "menu", in directory: String = "system", links: String = "menu.json") throws {
    try data.entry(id, in: directory, claims: ["Domains=menu.example.com;", "Schemes=x-menu;", "Links=\(links)"])
  }

  private func scan() -> HandlerScan { data.scan() }

  @Test(arguments: ["menu.json", "rules/menu.json", ""])
  func `the rules file may be beside the entry, in a subfolder or at an absolute path`(name: String) throws {
    let path = name.isEmpty ? "elsewhere/menu.json" : "system/applications/\(name)"
    let file = try data.temporary.write(linkRules(#"{"/": "/bill", "exclude": true}, {}"#), to: path)
    try entry(links: name.isEmpty ? file : name)
    let scan = scan()
    #expect(scan.problems.isEmpty, "\(scan.problems)")
    #expect(scan.linkFiles == [file])
    #expect(scan.handler(of: "https://menu.example.com/7") == "menu.desktop")
    #expect(scan.handler(of: "https://menu.example.com/bill") == nil)
    #expect(scan.handler(of: "x-menu:bill") == "menu.desktop")
  }

  @Test func `an app id means the handler with or without its suffix and a team prefix`() throws {
    for (id, expected) in [
      ("menu", true), ("menu.desktop", true), ("ABCDE12345.menu", true), ("ABCDE1234.menu", false), ("other", false),
    ] {
      try data.temporary.write(linkRules("{}", id: id), to: "system/applications/menu.json")
      try entry()
      #expect((scan().handler(of: "https://menu.example.com/") != nil) == expected, "\(id)")
    }
  }

  @Test func `a relative rules file is looked up beside the entry, even if the entry is a link`() throws {
    try data.temporary.write(linkRules("{}", id: "vendor-menu"), to: "system/applications/vendor/menu.json")
    let real = try data.entry("real", in: "elsewhere", claims: ["Domains=menu.example.com;", "Links=menu.json"])
    #expect(symlink(real, data.temporary.file("system/applications/vendor/menu.desktop")) == 0)
    #expect(scan().handler(of: "https://menu.example.com/") == "vendor-menu.desktop")
  }

  @Test(
    arguments: [
      (
        "{\n  \"applinks\": {\"details\": [\n  {\"appIDs\": [\"menu\"], \"components\": [{\"/\": 7}]}]}}", 3, 45,
        "it is not a text"
      ),
      ("{\"applinks\"", 1, 12, "it is not JSON: the file ends too early"),
      ("", 1, 1, "it is not JSON: the file ends too early"),
      (linkRules("{}", id: "other"), nil, nil, "none of its appIDs is menu.desktop"),
      (String(repeating: " ", count: 131_073), nil, nil, "is larger than 128 KiB"),
    ] as [(String, Int?, Int?, String)])
  func `a handler with broken rules gets no link of its domains, and the error is located`(
    text: String, line: Int?, column: Int?, message: String
  ) throws {
    let file = try data.temporary.write(text, to: "system/applications/menu.json")
    try entry()
    try data.entry("good", claims: ["Domains=good.example;"])
    let scan = scan()
    #expect(scan.problems.map(\.file) == [file])
    #expect(scan.problems.map(\.line) == [line] && scan.problems.map(\.column) == [column], "\(scan.problems)")
    #expect(scan.problems.first?.message.contains(message) == true, "\(scan.problems)")
    #expect(scan.problems.first?.desktopID == "menu.desktop")
    #expect(scan.handler(of: "https://menu.example.com/") == nil)
    let route = Registry(declarations: scan.declarations).route(for: "https://menu.example.com/")
    #expect(route.claimants.map(\.outcome) == [.unusableLinks])
    let finding = "menu does not take it: its path rules cannot be used"
    #expect(route.steps.contains { $0.finding.contains(finding) })
    #expect(scan.handler(of: "https://good.example/") == "good.desktop")
    // Rules apply to links of domains only.
    #expect(scan.handler(of: "x-menu:7") == "menu.desktop")
  }

  @Test func `special files are not opened as rules, but a link to a regular file is`() throws {
    let rules = try data.temporary.write(linkRules("{}"), to: "elsewhere/rules.json")
    let path = data.temporary.file("system/applications/menu.json")
    try entry()
    for make in [
      { mkfifo(path, 0o600) == 0 }, { symlink("/dev/zero", path) == 0 }, { symlink(path, path) == 0 },
      { mkdir(path, 0o700) == 0 }, { true },
    ] {
      #expect(make())
      let scan = scan()
      #expect(scan.problems.map(\.file) == [path])
      #expect(scan.handler(of: "https://menu.example.com/") == nil)
      if unlink(path) != 0 { rmdir(path) }
    }
    #expect(symlink(rules, path) == 0)
    #expect(scan().handler(of: "https://menu.example.com/") == "menu.desktop")
  }

  @Test func `the rules of user entries use none of the budget of system entries`() throws {
    for number in 0..<3 {
      try data.temporary.write(linkRules(largeRules, id: "user\(number)"), to: "user/applications/\(number).json")
      try entry("user\(number)", in: "user", links: "\(number).json")
    }
    try data.temporary.write(linkRules(largeRules), to: "system/applications/menu.json")
    try entry()
    let scan = scan()
    #expect(scan.problems.map(\.desktopID) == ["user2.desktop"])
    #expect(scan.problems.allSatisfy { $0.message.contains("too many patterns") })
    #expect(scan.declarations.first { $0.application.desktopID == "menu.desktop" }?.links != nil)
  }
}

/// The messages for the author of a file that is not installed.
@Suite struct HandlerCheckTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  private func problems(_ path: String) -> [String] {
    HandlerCheck.problems(in: path, environment: data.environment).map {
      $0.description.replacing(data.temporary.path + "/", with: "")
    }
  }

  @Test func `an entry and its rules are checked without being installed`() throws {
    let entry = try data.temporary.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Menu
      Exec=menu %u
      Implements=org.tagroute.Handler1;
      [org.tagroute.Handler1]
      Domains=menu.example.com;
      Links=menu.json

      """, to: "work/org.example.Menu.desktop")
    #expect(
      problems(entry) == ["work/menu.json: there is no such file, but Links= of org.example.Menu names it"])
    let file = #"{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "/a", "x": 1}]}]}}"#
    let rules = try data.temporary.write(file, to: "work/menu.json")
    let remark = "work/menu.json:1:92: applinks.details[0].components[0].x: a member of this name means nothing here"
    #expect(problems(entry) == [remark])
    #expect(problems(rules) == [remark])
    try data.temporary.write(file.replacing(#", "x": 1"#, with: ""), to: "work/menu.json")
    #expect(problems(entry).isEmpty && problems(rules).isEmpty)
    try data.temporary.write("{", to: "work/menu.json")
    #expect(problems(entry) == ["work/menu.json:1:2: it is not JSON: the file ends too early"])
  }

  @Test func `an entry without claims and a missing file are reported`() throws {
    let entry = try data.temporary.write("[Desktop Entry]\nType=Application\n", to: "work/a.desktop")
    #expect(problems(entry).first?.hasPrefix("work/a.desktop: it claims nothing from tags") == true)
    #expect(problems(data.temporary.file("none.desktop")) == ["none.desktop: No such file or directory"])
    #expect(problems(data.temporary.file("none.json")) == ["none.json: No such file or directory"])
  }

  @Test(arguments: [
    ("/usr/share/applications/a.desktop", "a.desktop"), ("/usr/share/applications/v/a.desktop", "v-a.desktop"),
    ("./a.desktop", "a.desktop"), ("/srv/data/a.desktop", "a.desktop"), ("applications/v/a.desktop", "v-a.desktop"),
  ])
  func `the id is the path below the directory of desktop entries`(path: String, expected: String) {
    #expect(HandlerCheck.id(of: path) == expected)
  }
}

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
        "\(name): there is no such file, but Links= of org.example.Menu names it. Flatpak exports no file "
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
