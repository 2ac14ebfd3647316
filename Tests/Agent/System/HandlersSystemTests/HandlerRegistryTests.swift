import Agent
import EventLoop
import Glibc
import Handlers
import Routing
import TestKit
import Testing

@testable import HandlersTests

@Suite(.timeLimit(.minutes(5))) struct HandlerRegistryTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  /// Waits for changes until `condition` holds for the registry. A hang ends at the suite's time limit.
  private func wait(
    _ handlers: HandlerRegistry, _ changes: AsyncStream<Void>, until condition: (Registry) -> Bool
  ) async {
    var iterator = changes.makeAsyncIterator()
    while !condition(await handlers.registry) {
      // The stream ends at the time limit.
      guard await iterator.next() != nil else { return }
    }
  }

  private func claims(_ host: String) -> (Registry) -> Bool { { $0.route(for: "https://\(host)/").handler != nil } }

  @Test func `new, changed and removed entries are noticed, also in new folders`() async throws {
    let handlers = data.registry(on: EventLoop(label: "test"))
    await handlers.start()
    let changes = await handlers.changes()
    #expect(await handlers.registry.declarations.isEmpty)

    // The directory itself does not exist yet.
    let file = try data.entry("menu", in: "user", claims: ["Domains=a.example;"])
    await wait(handlers, changes, until: claims("a.example"))
    try data.entry("menu", in: "user", claims: ["Domains=b.example;"])
    await wait(handlers, changes, until: claims("b.example"))
    try data.entry("deep/folder/menu", in: "user", claims: ["Domains=c.example;"])
    await wait(handlers, changes, until: claims("c.example"))
    try data.entry("deep/folder/menu", in: "user", claims: ["Domains=d.example;"])
    await wait(handlers, changes, until: claims("d.example"))
    let other = try data.temporary.write("", to: "other")
    #expect(rename(other, file) == 0)
    await wait(handlers, changes) { !claims("b.example")($0) }
    #expect(unlink(data.temporary.file("user/applications/deep/folder/menu.desktop")) == 0)
    await wait(handlers, changes) { $0.declarations.isEmpty }
  }

  @Test func `changes of a handler's file of links and of its missing folders are noticed`() async throws {
    try data.entry("menu", claims: ["Domains=menu.example.com;", "Links=later/rules/menu.json"])
    let handlers = data.registry(on: EventLoop(label: "test"))
    await handlers.start()
    let changes = await handlers.changes()
    func accepts(_ path: String) -> (Registry) -> Bool {
      { $0.route(for: "https://menu.example.com/\(path)").handler != nil }
    }
    func rules(_ path: String) -> String {
      #"{"applinks": {"details": [{"appIDs": ["menu"], "components": [{"/": "/\#(path)"}]}]}}"#
    }
    #expect(await !accepts("a")(handlers.registry))
    let path = "system/applications/later/rules/menu.json"
    let file = try data.temporary.write(rules("a"), to: path)
    await wait(handlers, changes, until: accepts("a"))
    try data.temporary.write(rules("b"), to: path)
    await wait(handlers, changes, until: accepts("b"))
    let other = try data.temporary.write(rules("c"), to: "other.json")
    #expect(rename(other, file) == 0)
    await wait(handlers, changes, until: accepts("c"))
    #expect(unlink(file) == 0)
    await wait(handlers, changes) { !accepts("c")($0) }
    #expect(await handlers.problems.count == 1)
  }

  @Test func `an entry is read although other files never stop changing`() async throws {
    let handlers = data.registry(on: EventLoop(label: "test"))
    await handlers.start()
    try data.entry("menu", claims: ["Domains=a.example;"])
    while !claims("a.example")(await handlers.registry) {
      try data.entry("busy")
      // Each write comes before the registry's settling time has passed.
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test func `a change of the problems alone is reported`() async throws {
    let file = try data.entry("menu", ["Exec="])
    let handlers = data.registry(on: EventLoop(label: "test"))
    await handlers.start()
    #expect(await handlers.problems.count == 1)
    var iterator = await handlers.changes().makeAsyncIterator()
    #expect(unlink(file) == 0)
    await iterator.next()
    #expect(await handlers.problems.isEmpty)
  }

  @Test func `concurrent reloads give the complete registry`() async throws {
    let handlers = data.registry(on: EventLoop(label: "test"))
    await handlers.start()
    try data.entry("menu")
    await handlers.reload()
    #expect(await handlers.registry.declarations.count == 1)
    async let first: Void = handlers.reload()
    async let second: Void = handlers.reload()
    _ = await (first, second)
    #expect(await handlers.registry.declarations.count == 1)
  }

  @Test func `the registry looks up the default application of each scheme`() async throws {
    let file = try data.entry("browser", claims: [], implements: false)
    let browser = Application(desktopID: "browser.desktop", name: "Browser", file: file, origin: .system)
    let handlers = data.registry(on: EventLoop(label: "test"), default: browser)
    await handlers.start()
    let registry = await handlers.registry
    #expect(Set(registry.defaults.keys) == RoutingPolicy.defaultSchemes)
    #expect(registry.route(for: "https://example.com/").handler == browser)
  }

  @Test(arguments: [
    (["Exec=lynx %u", "Terminal=true"], ": needs a terminal, which a tag does not open"),
    (["Exec=lynx \"%u\""], ":4: Exec cannot be run: it has a field code inside quotes"),
  ])
  func `a default application that cannot be opened is not offered, and the steps say why`(
    lines: [String], obstacle: String
  ) async throws {
    let file = try data.entry("browser", lines, claims: [], implements: false)
    let browser = Application(desktopID: "browser.desktop", name: "Browser", file: file, origin: .system)
    let handlers = data.registry(on: EventLoop(label: "test"), default: browser)
    await handlers.reload()
    let route = await handlers.registry.route(for: "https://example.com/")
    #expect(route.kind == .none && route.handler == nil)
    let finding = "https has no default application that can be opened: \(file)\(obstacle)"
    #expect(route.steps.last == Route.Step("default", finding))
    #expect(route.reason.hasSuffix(finding))
  }
}

@Suite struct DefaultApplicationsTests {
  /// GLib reads the environment once per process, so this test runs in its own process.
  @Test func `GIO reads the default application of a scheme from mimeapps.list`() async throws {
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
        "[Default Applications]\nx-scheme-handler/https=second.desktop\nx-scheme-handler/tel=third.desktop\n"
          + "x-scheme-handler/mailto=fourth.desktop\n", to: "config/mimeapps.list")
      // Its id is not a bus name, so it cannot be called.
      try data.entry(
        "third", ["Exec=true %u", "DBusActivatable=true", "MimeType=x-scheme-handler/tel;"], claims: [],
        implements: false)
      // It accepts no link, so it cannot open one.
      try data.entry("fourth", ["Exec=true", "MimeType=x-scheme-handler/mailto;"], claims: [], implements: false)
      let directories = DataDirectories()
      let handlers = HandlerRegistry(
        directories: directories, defaultApplication: DefaultApplications.gio(directories),
        on: EventLoop(label: "test"))
      await handlers.reload()
      let route = await handlers.registry.route(for: "https://example.com/")
      let file = data.temporary.file("system/applications/second.desktop")
      let expected = Application(
        desktopID: "second.desktop", name: "second", icon: "second", file: file,
        // Only root's files can be the system's.
        origin: getuid() == 0 ? .system : .user)
      #expect(route.kind == .default)
      #expect(route.handler == expected)
      #expect(await handlers.registry.unusableDefaults["tel"]?.contains("must be a D-Bus name") == true)
      #expect(await handlers.registry.defaults["mailto"] == nil)
      #expect(await handlers.registry.unusableDefaults["mailto"]?.contains("neither %u nor %U") == true)
    }
  }
}

/// The example of the documentation, checked in the way that its readers use it.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
  private let examples: String

  init() {
    examples = "\(repositoryRoot)/Config/examples"
  }

  @Test func `the desktop entry is valid`() async throws {
    let validator = try BuiltProducts.systemProgram("desktop-file-validate", package: "desktop-file-utils")
    let (_, _, log) = try await ChildProcess.run(validator, ["\(examples)/org.example.Menu.desktop"])
    // The specification allows a group named after an interface in Implements=. The validator does not know that yet.
    let others = log.filter { !$0.contains("file contains group \"org.tagroute.Handler1\", but groups extending") }
    #expect(others.isEmpty)
  }

  @Test func `the entry and the program work together`() async throws {
    let data = try DataDirectory()
    let text = String(decoding: try readFile("\(examples)/org.example.Menu.desktop"), as: UTF8.self)
    try data.temporary.write(text, to: "system/applications/org.example.Menu.desktop")
    try data.temporary.write(
      try readFile("\(examples)/tagroute-example-menu"), to: "bin/tagroute-example-menu", mode: 0o755)
    let (registry, problems) = await data.loaded()
    #expect(problems.isEmpty)
    #expect(registry.route(for: "https://a.example.org/").kind == .universalLink)
    let output = data.temporary.file("output")
    #expect(mkfifo(output, 0o600) == 0)
    var environment = data.environment
    environment["MENU_OUTPUT"] = output
    let launcher = Launcher(connection: nil, environment: environment, on: EventLoop(label: "test"))
    let message: [UInt8] =
      [0x91, 1, 15, 0x55, 4] + Array("menu.example.c".utf8) + [0x51, 1, 8, 0x54, 2] + Array("en\u{1B}[31m".utf8)
    let outcome = await launcher.open(registry.route(for: "https://menu.example.com/7"), message: message).outcome
    #expect(outcome == .delivered)
    let (_, printed, _) = try await ChildProcess.run("/bin/cat", [output])
    #expect(
      printed == """
        link: https://menu.example.com/7
        record 1: well-known U: https://menu.example.c
        record 2: well-known T: \\x1b[31m

        """)
  }
}
