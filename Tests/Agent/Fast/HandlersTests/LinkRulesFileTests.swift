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
    let finding = "menu.desktop does not take it: its path rules cannot be used"
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
      problems(entry) == ["work/menu.json: there is no such file, but Links= of org.example.Menu.desktop names it"])
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
