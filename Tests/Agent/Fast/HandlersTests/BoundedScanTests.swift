import Dispatch
import EventLoop
import Glibc
import Rig
import Routing
import Settings
import Testing

@testable import Handlers

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
