import EventLoop
import Foundation
import Glibc
import Rig
import Routing
import Settings
import Testing

@testable import Handlers

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

/// The user's choices in files that were edited by hand, are damaged, or are written by other programs meanwhile.
@Suite struct ChoiceDamageTests {
  private let folder: TemporaryDirectory
  private let files: ChoiceFiles
  private let menu = Application(
    desktopID: "org.example.Menu.desktop", name: "Menu", file: "/home/me/share/menu.desktop", origin: .user,
    launch: "menu %u")

  init() throws {
    folder = try TemporaryDirectory()
    files = ChoiceFiles(directory: folder.file("config"))
  }

  private func store() -> ChoiceStore { ChoiceStore(files, on: EventLoop(label: "test")) }
  private func intents(_ text: String) throws { try folder.write(text, to: "config/intentapps.list") }
  private func handlers(_ text: String) throws { try folder.write(text, to: "config/tagroute/handlers.conf") }

  private func preferences(_ lines: String...) throws {
    try intents("[Default Applications]\n" + lines.joined(separator: "\n") + "\n")
  }

  // MARK: Manual edits

  @Test(arguments: [
    HandlerChoices.Change.forget(desktopID: "org.example.Menu.desktop", claim: nil),
    .block(desktopID: "org.example.Menu.desktop", claim: nil), .forget(desktopID: nil, claim: nil),
  ])
  func `forgetting and blocking remove preferences in any hand-written spelling`(change: HandlerChoices.Change)
    async throws
  {
    try preferences(
      "org.tagroute.Handler1[Menu.EXAMPLE.com]=org.example.Menu;",
      "org.tagroute.Handler1[menu.example.com]=org.example.Menu;",
      "org.tagroute.Handler1[bücher.example]=org.example.Menu;", "x-scheme-handler/TEL=org.example.Menu;",
      "org.tagroute.Handler1[a.example]=org.example.Menu;", "org.tagroute.Handler1[a.example]=org.example.Menu;")
    let store = store()
    let read = await store.current().choices.preferred
    #expect(read.keys.sorted() == ["a.example", "menu.example.com", "tel:", "xn--bcher-kva.example"])
    try await store.apply(change)
    #expect(await store.current().choices.preferred.isEmpty)
    #expect(await self.store().current().choices.preferred.isEmpty)
  }

  @Test func `an unknown key is reported once with its line, and kept when the file is written`() async throws {
    let written = "[org.example.Menu.desktop]\nBloked=*;\nBlocked=a.example;\nBlocked[de]=b.example;\n"
    try handlers(written)
    let store = store()
    let (choices, problems) = await store.current()
    #expect(choices.blocked == [menu.desktopID: ["a.example"]])
    #expect(problems.map(\.line) == [2, 4])
    #expect(problems.first?.description.contains("Bloked") == true)
    try await store.apply(.block(desktopID: menu.desktopID, claim: "c.example"))
    #expect(await store.current().newProblems.isEmpty)
    let text = String(decoding: try readFile(files.handlers), as: UTF8.self)
    #expect(text == written.replacing("Blocked=a.example;", with: "Blocked=a.example;c.example;"))
  }

  @Test func `at most 20 unknown keys are reported`() async throws {
    try handlers("[a.desktop]\n" + (0..<1000).map { "Key\($0)=1\n" }.joined())
    #expect(await store().current().newProblems.count == 20)
  }

  @Test func `a handler id with and without its suffix means the same handler`() async throws {
    try handlers(
      """
      [org.example.Menu]
      Blocked=a.example;
      [org.example.Menu.desktop]
      Blocked=B.example;
      File=/a
      Launch=a
      Allowed=c.example;
      """)
    let store = store()
    let (choices, problems) = await store.current()
    #expect(problems.isEmpty)
    #expect(choices.blocked == [menu.desktopID: ["a.example", "b.example"]])
    try await store.apply(.forget(desktopID: menu.desktopID, claim: "a.example"))
    #expect(await self.store().current().choices.blocked == [menu.desktopID: ["b.example"]])
    try await store.apply(.forget(desktopID: menu.desktopID, claim: nil))
    #expect(await self.store().current().choices == HandlerChoices())
  }

  // MARK: Damage

  @Test(arguments: [
    "[other.desktop", "other.desktop]", "[other].desktop", "[[other.desktop]", "[other=.desktop", "[", "[]",
  ])
  func `a damaged header keeps the group above intact, and lines below it are ignored`(header: String) async throws {
    try handlers("[evil.desktop]\nBlocked=*;\n\(header)\nBlocked=a.example;\n#\n[third.desktop]\nBlocked=b.example;\n")
    let (choices, problems) = await store().current()
    #expect(choices.blocked == ["evil.desktop": ["*"], "third.desktop": ["b.example"]])
    #expect(problems.map(\.line) == [3])
  }

  @Test func `a block survives any number of wrong lines and a file over the size limit`() async throws {
    let wrong = String(repeating: "what is this\n", count: 500)
    let block = "[evil.desktop]\nBlocked=*;\n"
    let sifted = "Encoding=x\n[]\nBlocked=c.example;\n[other.desktop\nBlocked=a.example;\n"
    try handlers("\(wrong)[a.desktop]\n\(wrong)Blocked=a.example;\n\(sifted)\(block)\(sifted)")
    let (choices, problems) = await store().current()
    #expect(choices.blocked == ["a.desktop": ["a.example"], "evil.desktop": ["*"]])
    #expect(problems.count == SalvagedKeyFile.mostNamed + 1)

    try handlers(block + "[b.desktop]\n" + String(repeating: "#", count: KeyFile.maximumSize))
    let large = await store().current()
    #expect(large.choices.blocked == ["evil.desktop": ["*"]] && large.newProblems.count == 1)
  }

  @Test func `a block survives any number of preferences, permissions and other blocks`() async throws {
    let most = HandlerChoices.maximumClaims
    let many = (0...most).map { "d\($0).example" }
    try intents("[Default Applications]\n" + many.map { "org.tagroute.Handler1[\($0)]=a.desktop\n" }.joined())
    try handlers("[a.desktop]\nFile=/a\nLaunch=a\nAllowed=\(many.joined(separator: ";"))\n[evil.desktop]\nBlocked=*;\n")
    let first = await store().current()
    #expect(first.choices.blocked == ["evil.desktop": ["*"]])
    #expect(first.choices.allowed.isEmpty && first.choices.preferred.count == most - 1)
    #expect(first.newProblems.count == 2)

    try handlers("[a.desktop]\nBlocked=\(many.joined(separator: ";"))\n[evil.desktop]\nBlocked=b.example;\n")
    let second = await store().current()
    #expect(second.choices.blocked == ["a.desktop": ["*"], "evil.desktop": ["*"]])
    #expect(second.newProblems.count == 2)
  }

  @Test func `a claim has a limited number of preferred handlers`() async throws {
    try preferences("x-scheme-handler/tel=" + (0..<1000).map { "a\($0).desktop;" }.joined())
    let (choices, problems) = await store().current()
    #expect(choices.preferred["tel:"] == (0..<HandlerChoices.maximumPreferences).map { "a\($0).desktop" })
    #expect(problems.map(\.line) == [2])
  }

  @Test func `the last choices still apply while their file cannot be read`() async throws {
    try handlers("[evil.desktop]\nBlocked=*;\n")
    let store = store()
    #expect(await store.current().choices.blocked == ["evil.desktop": ["*"]])
    try FileManager.default.removeItem(atPath: files.handlers)
    #expect(mkdir(files.handlers, 0o700) == 0)
    #expect(await store.current().choices.blocked == ["evil.desktop": ["*"]])
    #expect(rmdir(files.handlers) == 0)
    #expect(await store.current().choices.blocked.isEmpty)
  }

  // MARK: Concurrent writes

  @Test func `a choice that could not be written stays in force and is written later`() async throws {
    let damaged = "[evil.desktop]\nBlocked=*;\nwhat is this\n"
    try handlers(damaged)
    let store = store()
    await #expect(throws: KeyFileError.self) { try await store.apply(.block(desktopID: "third.desktop", claim: nil)) }
    await #expect(throws: KeyFileError.self) { try await store.apply(.prefer(menu, claim: "a.example")) }
    try preferences("x-scheme-handler/tel=phone.desktop;", "org.tagroute.Handler1[a.example]=other.desktop;")
    for _ in 0..<2 {
      let choices = await store.current().choices
      #expect(choices.blocked == ["evil.desktop": ["*"], "third.desktop": ["*"]])
      // The preference was written to its file, so later changes of that file are newer.
      #expect(choices.preferred == ["tel:": ["phone.desktop"], "a.example": ["other.desktop"]])
      #expect(choices.allowed[menu.desktopID]?.claims == ["a.example"])
    }
    try handlers(damaged.replacingOccurrences(of: "what is this", with: ""))
    let choices = await store.current().choices
    #expect(choices.blocked == ["evil.desktop": ["*"], "third.desktop": ["*"]])
    #expect(await self.store().current().choices == choices)
    // The choice is written once. If another program removes it later, that is intended.
    try handlers("")
    #expect(await store.current().choices.blocked.isEmpty)
  }

  @Test func `a write by another program right after ours is read`() async throws {
    let store = store()
    try await store.apply(.block(desktopID: "a.desktop", claim: nil))
    // The file, its size and its times stay the same. Only reading the file reveals the change.
    var before = stat()
    #expect(stat(files.handlers, &before) == 0)
    let text = try String(contentsOfFile: files.handlers, encoding: .utf8)
    let other = Array(text.replacingOccurrences(of: "a.desktop", with: "b.desktop").utf8)
    let descriptor = open(files.handlers, O_WRONLY)
    #expect(other.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == other.count)
    var times = [before.st_atim, before.st_mtim]
    #expect(futimens(descriptor, &times) == 0)
    close(descriptor)
    #expect(await store.current().choices.blocked == ["b.desktop": ["*"]])
  }
}
