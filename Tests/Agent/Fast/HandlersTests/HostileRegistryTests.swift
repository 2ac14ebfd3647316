import EventLoop
import Glibc
import Rig
import Routing
import Testing
import UniversalLinks

@testable import Handlers

/// Desktop entries that were written or placed to do harm.
@Suite(.timeLimit(.minutes(5))) struct HostileRegistryTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  private func folder() throws -> String {
    try data.entry("good", claims: ["Domains=good.example;"])
    return "\(data.directories.system[0])/applications"
  }

  private func names(_ problems: [HandlerProblem]) -> [String] {
    problems.map { String($0.file.split(separator: "/").last ?? "") }
  }

  @Test func `a thousand user entries for one domain are all candidates, after the system entry`() throws {
    try data.entry("zzz.honest", claims: ["Domains=shop.example;"])
    for number in 0..<1000 {
      try data.entry("crowd/\(number)", in: "user", claims: ["Domains=shop.example;*.shop.example;"])
    }
    let scan = data.scan()
    #expect(scan.problems.isEmpty)
    let registry = Registry(declarations: scan.declarations)
    let route = registry.route(for: "https://shop.example/")
    #expect(route.candidates.count == 1001)
    #expect(route.handler?.desktopID == "zzz.honest.desktop")
    #expect(route.trusted)
    #expect(route.steps.allSatisfy { $0.finding.utf8.count < 1000 })
    #expect(route == Registry(declarations: scan.declarations.reversed()).route(for: "https://shop.example/"))
  }

  @Test func `claims per entry are limited, and so are the problems reported for an entry`() throws {
    let many = (0..<HandlerClaims.maximumClaims + 500).map { "d\($0).example;" }.joined()
    try data.entry("many", claims: ["Domains=\(many)", "Schemes=x-late;"])
    try data.entry("wrong", claims: ["Domains=\(String(repeating: "-;", count: 50_000))right.example;"])
    let scan = data.scan()
    let registry = Registry(declarations: scan.declarations)
    #expect(registry.route(for: "https://d0.example/").handler?.desktopID == "many.desktop")
    #expect(registry.route(for: "https://d\(HandlerClaims.maximumClaims).example/").handler == nil)
    #expect(registry.route(for: "x-late:1").handler == nil)
    #expect(names(scan.problems).filter { $0 == "many.desktop" }.count == 2)
    #expect(names(scan.problems).filter { $0 == "wrong.desktop" }.count <= HandlerClaims.maximumProblems + 2)
  }

  @Test func `claims over the total limit are ignored and reported`() throws {
    let list = (0..<HandlerClaims.maximumClaims).map { "d\($0).example;" }.joined()
    let full = HandlerScan.maximumClaims / HandlerClaims.maximumClaims
    for number in 0...full { try data.entry("app\(100 + number)", in: "user", claims: ["Domains=\(list)"]) }
    try data.entry("system", claims: ["Domains=system.example;"])
    let scan = data.scan()
    #expect(scan.declarations.count == full + 1, "the user's entries used up the claims of the system's entries")
    #expect(names(scan.problems) == ["app\(100 + full).desktop"])
  }

  @Test(.timeLimit(.minutes(5))) func `a file of only groups or keys does not delay the other files`() throws {
    let folder = try folder()
    let groups = (0..<120_000).map { "[\($0)]\n" }.joined()
    try data.temporary.write(
      "\(groups)[org.tagroute.Handler1]\nDomains=groups.example;\n", to: "system/applications/groups.desktop")
    let keys = (0..<100_000).map { "\($0)=\n" }.joined()
    try data.temporary.write(
      "[Desktop Entry]\nImplements=org.tagroute.Handler1;\n\(keys)", to: "system/applications/keys.desktop")
    let scan = data.scan()
    #expect(scan.directories == [folder])
    #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
    #expect(Set(names(scan.problems)) == ["groups.desktop", "keys.desktop"])
  }

  @Test func `markup and control characters in names are kept as text, and long names are rejected`() throws {
    let name = "<b>Bank</b>\u{1B}[2J\u{202E}lave\u{7}"
    try data.entry("name", ["Exec=true", "Name=\(name)"])
    try data.entry("giant", ["Exec=true", "Name=\(String(repeating: "a", count: 1025))"])
    try data.entry("icon", ["Exec=true", "Icon=/\(String(repeating: "a", count: 4096))"])
    let scan = data.scan()
    #expect(scan.declarations.map(\.application.name) == [name])
    #expect(names(scan.problems) == ["giant.desktop", "icon.desktop"])
    #expect(scan.problems.allSatisfy { $0.line != nil && $0.message.utf8.count < 200 })
  }

  @Test func `links to devices, pipes, directories and other links are not opened`() throws {
    let folder = try folder()
    #expect(mkfifo(data.temporary.file("pipe"), 0o600) == 0)
    for (name, target) in [
      ("zero", "/dev/zero"), ("tty", "/dev/tty"), ("pipe", data.temporary.file("pipe")), ("self", "self.desktop"),
      ("one", "two.desktop"), ("two", "one.desktop"), ("gone", "/nonexistent"), ("parent", ".."),
    ] {
      #expect(symlink(target, "\(folder)/\(name).desktop") == 0)
    }
    // If the scan opened the pipe, it would unblock a writer. The watch shows whether the pipe was opened.
    let openings = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    defer { close(openings) }
    #expect(inotify_add_watch(openings, data.temporary.file("pipe"), UInt32(IN_OPEN)) > 0)
    let scan = data.scan()
    var events = [UInt8](repeating: 0, count: 1024)
    #expect(read(openings, &events, events.count) == -1 && errno == EAGAIN, "the pipe was opened")
    #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
    // This machine may have no terminal. A dangling link is treated like a deleted entry.
    #expect(
      Set(names(scan.problems)).subtracting(["tty.desktop"]) == [
        "zero.desktop", "pipe.desktop", "self.desktop", "one.desktop", "two.desktop", "parent.desktop",
      ])
  }

  @Test func `files and folders that appear and vanish during a scan affect no other entry`() async throws {
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
      let scan = data.scan()
      #expect(scan.declarations.map(\.application.desktopID) == ["good.desktop"])
      // A half-written file may be reported, but a deleted file is not a problem.
      #expect(scan.problems.allSatisfy { !$0.message.hasPrefix("cannot be read") }, "\(scan.problems)")
    }
    try await other.value
  }
}

@Suite struct FileOwnershipTests {
  private func isRootsAlone(_ path: String) -> Bool { FileOwnership.real.isRootsAlone(path) }

  @Test func `files that the system installs belong to root alone, also through links`() {
    for path in ["/", "/usr/bin/env", "//usr/./lib/../bin//env", "/bin/env"] { #expect(isRootsAlone(path), "\(path)") }
    #expect(!isRootsAlone("/usr/bin/not-there"))
  }

  @Test func `a path through a directory or link that others can change does not belong to root alone`() throws {
    let folder = try TemporaryDirectory()
    #expect(chmod(folder.path, 0o777) == 0)
    let file = try folder.write("", to: "shut/a.desktop")
    #expect(chmod(folder.file("shut"), 0o755) == 0)
    #expect(!isRootsAlone(file))
    #expect(symlink("/usr/bin/env", folder.file("link")) == 0)
    #expect(!isRootsAlone(folder.file("link")))
    #expect(symlink("link", folder.file("loop")) == 0 && symlink("around", folder.file("around")) == 0)
    #expect(!isRootsAlone(folder.file("loop")) && !isRootsAlone(folder.file("around")))
  }

  @Test(.enabled(if: getuid() == 0, "only root can create files that root owns"))
  func `owner, permissions and sticky bit decide whether a file belongs to root alone`() throws {
    let folder = try TemporaryDirectory()
    #expect(chmod(folder.path, 0o755) == 0)
    let file = try folder.write("", to: "a.desktop")
    #expect(chmod(file, 0o644) == 0)
    #expect(isRootsAlone(file))
    #expect(chmod(file, 0o646) == 0)
    #expect(!isRootsAlone(file))
    #expect(chmod(file, 0o644) == 0 && chown(file, 65_534, 0) == 0)
    #expect(!isRootsAlone(file))
    #expect(chown(file, 0, 0) == 0 && chown(folder.path, 65_534, 0) == 0)
    #expect(!isRootsAlone(file))
    // In a directory with the sticky bit, other users cannot remove a file that root owns.
    #expect(chown(folder.path, 0, 0) == 0 && chmod(folder.path, 0o1777) == 0)
    #expect(isRootsAlone(file))
  }
}
