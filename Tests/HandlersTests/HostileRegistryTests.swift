import EventLoop
import Glibc
import Routing
import TestSupport
import Testing
import UniversalLinks

@testable import Handlers

/// Desktop entries that were written, or placed, to do harm.
@Suite(.timeLimit(.minutes(5))) struct HostileRegistryTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  private func scan() -> HandlerScan {
    HandlerScan(data.directories, environment: data.environment, ownership: data.ownership)
  }

  private func folder() throws -> String {
    try data.entry("good", claims: ["Domains=good.example;"])
    return "\(data.directories.system[0])/applications"
  }

  private func names(_ problems: [HandlerProblem]) -> [String] {
    problems.map { String($0.file.split(separator: "/").last ?? "") }
  }

  @Test("ten thousand entries that claim one domain are ten thousand candidates, in one order, behind the system's own")
  func crowd() throws {
    try data.entry("zzz.honest", claims: ["Domains=shop.example;"])
    for number in 0..<10_000 {
      try data.entry("crowd/\(number)", in: "user", claims: ["Domains=shop.example;*.shop.example;"])
    }
    let scan = scan()
    #expect(scan.problems.isEmpty)
    let registry = Registry(declarations: scan.declarations)
    let route = registry.route(for: "https://shop.example/")
    #expect(route.candidates.count == 10_001)
    #expect(route.handler?.desktopID == "zzz.honest.desktop")
    #expect(route.trusted)
    #expect(route.steps.allSatisfy { $0.finding.utf8.count < 1000 })
    #expect(route == Registry(declarations: scan.declarations.reversed()).route(for: "https://shop.example/"))
  }

  @Test("a list of thousands is bounded, and so is what is said of one that is wrong")
  func longLists() throws {
    let many = (0..<HandlerClaims.maximumClaims + 500).map { "d\($0).example;" }.joined()
    try data.entry("many", claims: ["Domains=\(many)", "Schemes=x-late;"])
    try data.entry("wrong", claims: ["Domains=\(String(repeating: "-;", count: 50_000))right.example;"])
    let scan = scan()
    let registry = Registry(declarations: scan.declarations)
    #expect(registry.route(for: "https://d0.example/").handler?.desktopID == "many.desktop")
    #expect(registry.route(for: "https://d\(HandlerClaims.maximumClaims).example/").handler == nil)
    #expect(registry.route(for: "x-late:1").handler == nil)
    #expect(names(scan.problems).filter { $0 == "many.desktop" }.count == 2)
    #expect(names(scan.problems).filter { $0 == "wrong.desktop" }.count <= HandlerClaims.maximumProblems + 2)
  }

  @Test("claims beyond what all entries together may have do not count, and are named")
  func total() throws {
    let list = (0..<HandlerClaims.maximumClaims).map { "d\($0).example;" }.joined()
    let full = HandlerScan.maximumClaims / HandlerClaims.maximumClaims
    for number in 0...full { try data.entry("app\(100 + number)", in: "user", claims: ["Domains=\(list)"]) }
    try data.entry("system", claims: ["Domains=system.example;"])
    let scan = scan()
    #expect(scan.declarations.count == full + 1, "the user's entries leave the system's theirs")
    #expect(names(scan.problems) == ["app\(100 + full).desktop"])
  }

  @Test("a file that is nothing but groups or keys does not keep the others waiting", .timeLimit(.minutes(5)))
  func nothingButGroups() throws {
    let folder = try folder()
    let groups = (0..<120_000).map { "[\($0)]\n" }.joined()
    try data.temporary.write(
      "\(groups)[org.tagroute.Handler1]\nDomains=groups.example;\n", to: "system/applications/groups.desktop")
    let keys = (0..<100_000).map { "\($0)=\n" }.joined()
    try data.temporary.write(
      "[Desktop Entry]\nImplements=org.tagroute.Handler1;\n\(keys)", to: "system/applications/keys.desktop")
    let scan = scan()
    #expect(scan.directories == [folder])
    #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
    #expect(Set(names(scan.problems)) == ["groups.desktop", "keys.desktop"])
  }

  @Test("names that are markup, steer a terminal or turn text round stay text; giants are refused and named")
  func misleadingNames() throws {
    let name = "<b>Bank</b>\u{1B}[2J\u{202E}lave\u{7}"
    try data.entry("name", ["Exec=true", "Name=\(name)"])
    try data.entry("giant", ["Exec=true", "Name=\(String(repeating: "a", count: 1025))"])
    try data.entry("icon", ["Exec=true", "Icon=/\(String(repeating: "a", count: 4096))"])
    let scan = scan()
    #expect(scan.declarations.map(\.application.name) == [name])
    #expect(names(scan.problems) == ["giant.desktop", "icon.desktop"])
    #expect(scan.problems.allSatisfy { $0.line != nil && $0.message.utf8.count < 200 })
  }

  @Test(
    "an Exec with a field code inside quotes, or that cannot be understood, is refused in its line",
    arguments: [
      #"menu "%u""#, #"menu '%u'"#, #"menu "--link=%U""#, #"menu "a"%u"b" "%f""#, "menu %u %U", "menu %z", "menu %",
      #"menu "never closed"#, "%u", "\"\" menu",
    ])
  func exec(text: String) throws {
    try data.entry("menu", ["Exec=\(text)"])
    let scan = scan()
    #expect(scan.declarations.isEmpty)
    #expect(scan.problems.count == 1 && scan.problems[0].line == 5, "\(scan.problems)")
  }

  @Test("links to devices, pipes, sockets, each other and nothing are neither opened nor waited for")
  func links() throws {
    let folder = try folder()
    #expect(mkfifo(data.temporary.file("pipe"), 0o600) == 0)
    for (name, target) in [
      ("zero", "/dev/zero"), ("tty", "/dev/tty"), ("pipe", data.temporary.file("pipe")), ("self", "self.desktop"),
      ("one", "two.desktop"), ("two", "one.desktop"), ("gone", "/nonexistent"), ("parent", ".."),
    ] {
      #expect(symlink(target, "\(folder)/\(name).desktop") == 0)
    }
    // Whoever writes to the pipe would be let go on by an opening: nobody may have opened it.
    let openings = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    defer { close(openings) }
    #expect(inotify_add_watch(openings, data.temporary.file("pipe"), UInt32(IN_OPEN)) > 0)
    let scan = scan()
    var events = [UInt8](repeating: 0, count: 1024)
    #expect(read(openings, &events, events.count) == -1 && errno == EAGAIN, "the pipe was opened")
    #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
    // A terminal may be missing where this runs; a link to nothing is as an entry that has gone.
    #expect(
      Set(names(scan.problems)).subtracting(["tty.desktop"]) == [
        "zero.desktop", "pipe.desktop", "self.desktop", "one.desktop", "two.desktop", "parent.desktop",
      ])
  }

  @Test("files and folders that come and go while they are read cost nothing but themselves")
  func vanishing() async throws {
    let folder = try folder()
    let directory = data.temporary
    let other = Task.detached {
      for round in 0..<300 {
        try directory.write(
          "[Desktop Entry]\nImplements=org.tagroute.Handler1;\n", to: "system/applications/v\(round % 7).desktop")
        try directory.write("[Desktop Entry]\n", to: "system/applications/f\(round % 3)/x.desktop")
        unlink("\(folder)/v\((round + 3) % 7).desktop")
        unlink("\(folder)/f\(round % 3)/x.desktop")
        rmdir("\(folder)/f\(round % 3)")
      }
    }
    for _ in 0..<30 {
      let scan = scan()
      #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
      // A half-written file may be named; a file that has gone is nobody's mistake.
      #expect(scan.problems.allSatisfy { !$0.message.hasPrefix("cannot be read") }, "\(scan.problems)")
    }
    try await other.value
  }

  @Test("text that is not UTF-8, and zeros, cost the one entry, whose line is named")
  func notText() throws {
    _ = try folder()
    for (name, byte) in [("latin", UInt8(0xE9)), ("zero", 0)] {
      try data.temporary.write(
        Array("[Desktop Entry]\nImplements=org.tagroute.Handler1;\nName=caf".utf8) + [byte, 10],
        to: "system/applications/\(name).desktop")
    }
    let scan = scan()
    #expect(scan.declarations.count == 1)
    #expect(scan.problems.map(\.line) == [3, 3])
  }

  @Test(
    "wildcards over the domains of strangers are refused", arguments: ["*.com", "*.co.uk", "*.github.io", "*", "*."])
  func strangers(pattern: String) throws {
    try data.entry("greedy", claims: ["Domains=\(pattern);honest.example;"])
    let scan = scan()
    #expect(scan.declarations.map { $0.domains.map(\.description) } == [["honest.example"]])
    #expect(scan.problems.count == 1)
  }
}
