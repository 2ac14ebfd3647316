import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// A desktop on which a user pastes recipes. The programs of Tagroute are real. The other programs of the recipes are
/// stand-ins, which report their arguments.
struct RecipeStage {
  let desktop: Desktop
  let server: NotificationServerStandIn
  let manager: NetworkManagerStandIn
  private let page: RecipePage
  private let programs: TemporaryDirectory
  /// Prints a line for each start of a stand-in.
  private let starts: ChildProcess
  private let starter: String

  /// Appends one line to a pipe. One write of this size is not mixed with another.
  private static func standIn(_ pipe: String) -> String {
    """
    #!/bin/sh
    line=${0##*/}
    for argument in "$@"; do line="$line <$argument>"; done
    printf '%s\\n' "$line" > '\(pipe)'

    """
  }

  init(_ page: RecipePage, starter: String) async throws {
    (self.page, self.starter) = (page, starter)
    programs = try TemporaryDirectory()
    let pipe = programs.file("starts")
    try #require(mkfifo(pipe, 0o600) == 0)
    // Its own writing end keeps the pipe open between two stand-ins.
    starts = try ChildProcess("/bin/sh", ["-c", "exec cat <> '\(pipe)'"], starter: starter)
    for name in ["browser", "contacts", "curl", "mpc"] {
      try programs.write(Self.standIn(pipe), to: name, mode: 0o755)
    }
    try #require(symlink(try BuiltProducts.program("tagroute"), programs.file("tagroute")) == 0)

    desktop = try await Desktop(environment: ["PATH": "\(programs.path):/usr/bin:/bin"], starter: starter)
    let directory = desktop.installation.directory
    try #require(symlink(directory.file("config"), directory.file("home/.config")) == 0)
    for (id, name, program, type) in [
      ("web", "Web", "browser %u", "x-scheme-handler/https"), ("contacts", "Contacts", "contacts %f", "text/vcard"),
    ] {
      try directory.write(
        "[Desktop Entry]\nType=Application\nName=\(name)\nExec=\(programs.file(program))\nMimeType=\(type);\n",
        to: "share/applications/\(id).desktop")
    }
    try directory.write(
      "[Default Applications]\nx-scheme-handler/https=web.desktop\ntext/vcard=contacts.desktop\n",
      to: "config/mimeapps.list")
    _ = try await desktop.startPolkit()
    manager = try await NetworkManagerStandIn.start(on: desktop.systemBus)
    server = try await desktop.startWithServer()
    try await desktop.scanning()
  }

  // MARK: Pasting

  /// Pastes the blocks of a recipe, in their order and as they are printed. Commands that wait for a tag get the given
  /// one, or a blank one if they write it.
  /// Returns the output of the commands, and the message that they have written on the tag.
  func paste(_ title: String, holding tag: Tag? = nil) async throws -> (output: String, message: [UInt8]?) {
    let first = try #require(page.preparation.first)
    #expect(try await paste(first, holding: nil).output.isEmpty)
    let blocks = try page.blocks(of: title)
    var output = ""
    var message: [UInt8]?
    for block in blocks {
      let result = try await paste(block, holding: tag)
      output += result.output
      message = result.message ?? message
    }
    let rules = blocks.reduce(0) { $0 + Self.ruleCount(of: $1) }
    if rules > 0 { try await desktop.agent.line(containing: "rules for taps in force: \(rules)") }
    // They print mistakes.
    for check in page.preparation.dropFirst() { #expect(try await paste(check, holding: nil).output.isEmpty) }
    return (output, message)
  }

  private static func ruleCount(of block: RecipePage.Block) -> Int {
    switch block {
    case .commands(let text): text.ranges(of: "tagroute rules add ").count
    case .file(let text, _): text.ranges(of: "[Rule ").count
    }
  }

  private func paste(
    _ block: RecipePage.Block, holding tag: Tag?
  ) async throws -> (output: String, message: [UInt8]?) {
    switch block {
    case .file(let text, let path):
      try desktop.installation.directory.write(text, to: "home/\(path)")
      return ("", nil)
    case .commands(let text):
      let writes = text.contains("tagroute write ")
      let waits = writes || text.contains("--wait") || text.contains("tagroute info")
      let shell = try ChildProcess(
        "/bin/sh", ["-e", "-c", text], environment: desktop.installation.environment, starter: starter)
      if waits {
        try await desktop.status { $0.suspendReasons == ["reader-session"] }
        if writes { try await placeBlankTag() } else { try await desktop.place(try #require(tag)) }
      }
      let status = try await shell.exit()
      let log = await shell.log()
      try #require(status == .exited(0), "\(text)\(log.joined(separator: "\n"))")
      let message = writes ? try await messageOnReader() : nil
      if waits {
        try await desktop.installation.simulate("remove")
        try await desktop.scanning()
        try await desktop.lookedAround()
      }
      return (await shell.standardOutput(), message)
    }
  }

  /// Places an NTAG213 that was never formatted, which is the smallest tag of the page.
  private func placeBlankTag() async throws {
    let pages: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0, 0]
    // Up to page 39. Zeros behind that would protect the tag with a password.
    let memory = try desktop.installation.directory.write(pages + [UInt8](repeating: 0, count: 148), to: "tags/blank")
    try await desktop.installation.simulate("tap --type 2 --model ntag213 --memory \(memory)")
  }

  private func messageOnReader() async throws -> [UInt8] {
    let digits = try #require(try await desktop.installation.object("read")["message"] as? String)
    return try #require(Hexadecimal.bytes(digits))
  }

  // MARK: What happens

  /// The lines of the first `count` starts of stand-ins, such as `mpc <play>`, as soon as there are so many.
  func started(_ count: Int) async throws -> [String] {
    var lines: [String] = []
    for index in 0..<count { lines.append(try await starts.line(after: index) { _ in true }) }
    return lines
  }

  /// The next notification of a tap. Skips those that ask for a tag.
  func shown() async throws -> NotificationServerStandIn.Shown {
    try await desktop.within("a notification of a tap") { [server] in try await server.nextTap() }
  }
}

/// docs/recipes.md as its readers paste it.
struct RecipePage {
  enum Block: Hashable {
    /// Commands for a shell.
    case commands(String)
    /// A file to write. The text before the block has named its path below the home directory.
    case file(String, path: String)
  }

  /// The blocks before the first recipe: one to paste first, the others after a recipe.
  private(set) var preparation: [Block] = []
  /// The titles of the recipes, in their order.
  private(set) var titles: [String] = []
  private var blocks: [String: [Block]] = [:]

  init() throws {
    try self.init(String(decoding: try readFile("\(repositoryRoot)/docs/recipes.md"), as: UTF8.self))
  }

  /// Throws if there is a block that a reader could paste and a test would not.
  init(_ text: String) throws {
    var words = ""
    var fence: (kind: String, contents: String)?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let begun = fence {
        guard line == "```" else {
          fence?.contents += "\(line)\n"
          continue
        }
        add(try Self.block(begun.kind, begun.contents, after: words))
        (fence, words) = (nil, "")
      } else if line.hasPrefix("```") {
        fence = (String(line.dropFirst(3)), "")
      } else if line.hasPrefix("## ") {
        titles.append(String(line.dropFirst(3)))
        words = ""
      } else if line.hasPrefix("    ") || line.hasPrefix("\t") || line.contains("```") || line.hasPrefix("~~~") {
        throw RigError("docs/recipes.md: write this as a block with ```sh or ```ini: \(line)")
      } else {
        words += "\(line)\n"
      }
    }
    guard fence == nil else { throw RigError("docs/recipes.md: the last block has no end") }
    guard Set(titles).count == titles.count else { throw RigError("docs/recipes.md: two recipes have one title") }
  }

  /// The blocks of a recipe, in their order.
  func blocks(of title: String) throws -> [Block] {
    guard let found = blocks[title], !found.isEmpty else {
      throw RigError("docs/recipes.md has no recipe “\(title)” with something to paste")
    }
    return found
  }

  private mutating func add(_ block: Block) {
    guard let title = titles.last else { return preparation.append(block) }
    blocks[title, default: []].append(block)
  }

  private static func block(_ kind: String, _ contents: String, after words: String) throws -> Block {
    switch kind {
    case "sh": return .commands(contents)
    case "ini":
      // Every second part is between backticks.
      let quoted = words.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      guard let path = quoted.last(where: { $0.hasPrefix("~/") }) else {
        throw RigError("docs/recipes.md: the text before this block names no path below ~/:\n\(contents)")
      }
      return .file(contents, path: String(path.dropFirst(2)))
    default: throw RigError("docs/recipes.md: no test pastes a block of the kind “\(kind)”")
    }
  }
}
