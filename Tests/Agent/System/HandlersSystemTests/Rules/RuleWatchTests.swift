import EventLoop
import Glibc
import Handlers
import Routing
import TestKit
import Testing

/// Changes of the files of rules.
@Suite(.timeLimit(.minutes(5))) struct RuleWatchTests {
  private static let rule = "[Rule a]\nUID=04-A2-19-5A\nShow=yes\n"
  private static let file = "config/tagroute/rules.d/a.conf"
  private let directory: TemporaryDirectory
  private let files: RuleFiles

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
  }

  @Test func `changes are seen at once`() async throws {
    let loop = EventLoop(label: "rules")
    let store = RuleStore(
      files: files, directories: DataDirectories(user: nil, system: []), environment: [:], settling: .milliseconds(1),
      on: loop)
    await store.start()
    #expect(await store.rules.rules.isEmpty)
    let changes = await store.changes()
    try directory.write(Self.rule, to: Self.file)
    for await _ in changes where await store.rules.rules.map(\.name) == ["a"] { break }
    try directory.write("[Rule b]\nText=a\nnonsense\n", to: Self.file)
    for await _ in changes {
      let (rules, problems) = (await store.rules.rules, await store.problems)
      if rules.isEmpty && !problems.isEmpty { break }
    }
    try #require(unlink(directory.file(Self.file)) == 0)
    for await _ in changes where await store.problems.isEmpty { break }
  }

  @Test func `a directory that appears later is seen`() async throws {
    let loop = EventLoop(label: "rules")
    let later = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("later")], system: directory.file("none"))
    let store = RuleStore(
      files: later, directories: DataDirectories(user: nil, system: []), environment: [:], settling: .milliseconds(1),
      on: loop)
    await store.start()
    let changes = await store.changes()
    try directory.write(Self.rule, to: "later/tagroute/rules.d/a.conf")
    for await _ in changes where await store.rules.rules.map(\.name) == ["a"] { break }
  }
}
