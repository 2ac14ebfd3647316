import EventLoop
import Foundation
import Rig
import Routing
import Settings
import Testing

@testable import Handlers

/// The user's choices, and the files that hold them.
@Suite struct ChoiceStoreTests {
  private let folder: TemporaryDirectory
  private let files: ChoiceFiles
  private let menu = Application(
    desktopID: "org.example.Menu.desktop", name: "Menu", file: "/home/me/share/a;b.desktop", origin: .user,
    launch: #"menu "a;b" \\ %u"#)

  init() throws {
    folder = try TemporaryDirectory()
    files = ChoiceFiles(directory: folder.file("config"))
  }

  private func store() -> ChoiceStore { ChoiceStore(files, on: EventLoop(label: "test")) }
  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func `choices survive a restart, in files that only the user can read`() async throws {
    let first = store()
    let changes: [HandlerChoices.Change] = [
      .prefer(menu, claim: "menu.example.com"), .prefer(menu, claim: "*.example.org"),
      .prefer(menu, claim: "web+menu:"),
      .block(desktopID: "evil.desktop", claim: nil), .block(desktopID: menu.desktopID, claim: "*.bank.example"),
    ]
    for change in changes { try await first.apply(change) }
    let (choices, problems) = await store().current()
    #expect(problems.isEmpty)
    #expect(choices == (await first.current().choices))
    #expect(choices.preferred["*.example.org"] == [menu.desktopID])
    #expect(choices.allowed[menu.desktopID]?.place == .init(file: menu.file, launch: menu.launch))
    #expect(
      try text(files.intents) == """
        [Default Applications]
        org.tagroute.Handler1[menu.example.com]=org.example.Menu.desktop;
        org.tagroute.Handler1[.example.org]=org.example.Menu.desktop;
        x-scheme-handler/web+menu=org.example.Menu.desktop;

        """)
    #expect(try text(files.handlers).contains("[evil.desktop]\nBlocked=*;\n"))
    for file in [files.handlers, files.intents] { #expect(try permissions(file) == 0o600, "\(file)") }
    #expect(try permissions(folder.file("config")) == 0o700)
  }

  /// GLib puts an empty line between groups.
  private func lines(_ path: String) throws -> [String] { try text(path).split(separator: "\n").map(String.init) }

  private func permissions(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test func `lines of other programs, file permissions and symbolic links are kept`() async throws {
    let written = """
      # Mine
      [Default Applications]
      # the terminal
      org.freedesktop.Terminal1=org.example.Terminal.desktop
      org.freedesktop.Thumbnailer[de]=b.desktop;a.desktop

      [X-Other]
      key=value

      """
    let real = try folder.write(written, to: "dotfiles/intentapps.list", mode: 0o640)
    #expect(mkdir(folder.file("config"), 0o700) == 0 && symlink(real, files.intents) == 0)
    let store = store()
    try await store.apply(.prefer(menu, claim: "menu.example.com"))
    let line = "org.tagroute.Handler1[menu.example.com]=org.example.Menu.desktop;\n"
    #expect(try lines(real).filter { $0 + "\n" != line } == written.split(separator: "\n").map(String.init))
    #expect(try text(real).contains(line))
    #expect(try permissions(real) == 0o640)
    try await store.apply(.forget(desktopID: menu.desktopID, claim: nil))
    #expect(try lines(real) == written.split(separator: "\n").map(String.init))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: files.intents) == real)
  }

  @Test func `a damaged file is reported, its valid lines apply, and it is not written`() async throws {
    let damaged = "[evil.desktop]\nBlocked=*;\nwhat is this\n[other.desktop]\nBlocked=nonsense domain;a.example;\n"
    try folder.write(damaged, to: "config/tagroute/handlers.conf")
    let store = store()
    let (choices, problems) = await store.current()
    #expect(choices.blocked == ["evil.desktop": ["*"], "other.desktop": ["a.example"]])
    #expect(problems.map(\.line) == [3, 5])
    #expect(await store.current().newProblems.isEmpty)
    let error = await #expect(throws: KeyFileError.self) {
      try await store.apply(.block(desktopID: "third.desktop", claim: nil))
    }
    #expect(error?.line == 3)
    #expect(try text(files.handlers) == damaged)
    #expect(await store.current().choices.blocked["third.desktop"] == ["*"])
  }

  @Test(
    arguments: ["", "\u{0}", "[", "[a\n[b\n[c", String(repeating: "x\n", count: 500), "[a]\nBlocked=\\q;\nAllowed=\\"])
  func `files with any content are read, and later changes still apply`(content: String) async throws {
    for name in ["config/intentapps.list", "config/tagroute/handlers.conf"] { try folder.write(content, to: name) }
    let store = store()
    let (choices, problems) = await store.current()
    #expect(choices == HandlerChoices())
    #expect(problems.isEmpty == content.isEmpty)
    try folder.write("[a.desktop]\nBlocked=*;\n", to: "config/tagroute/handlers.conf")
    #expect(await store.current().choices.blocked == ["a.desktop": ["*"]])
  }

  @Test func `a directory in place of a file is an error, and a store without files works`() async throws {
    #expect(mkdir(folder.file("config"), 0o700) == 0 && mkdir(files.intents, 0o700) == 0)
    let store = store()
    #expect(await store.current().newProblems.count == 1)
    await #expect(throws: KeyFileError.self) { try await store.apply(.prefer(menu, claim: "a.example")) }
    let memory = ChoiceStore(nil, on: EventLoop(label: "test"))
    try await memory.apply(.prefer(menu, claim: "a.example"))
    #expect(await memory.current().choices.preferred["a.example"] == [menu.desktopID])
  }

  @Test func `concurrent changes are all kept`() async throws {
    let store = store()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { try await store.apply(.block(desktopID: "a\(number).desktop", claim: "d.example")) }
      }
      try await group.waitForAll()
    }
    #expect(await self.store().current().choices.blocked.count == 50)
  }

  @Test func `a desktop id that cannot be the name of a group is rejected`() async throws {
    let store = store()
    await #expect(throws: KeyFileError.self) { try await store.apply(.block(desktopID: "a]b\n.desktop", claim: nil)) }
    #expect(await self.store().current().choices == HandlerChoices())
  }
}
