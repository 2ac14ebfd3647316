import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// A desktop on which a user pastes the commands of a page. The programs of Tagroute are real. The other programs of the
/// pages are stand-ins, which report their arguments.
struct PageStage {
  let desktop: Desktop
  let server: NotificationServerStandIn
  let manager: NetworkManagerStandIn
  private let page: DocumentationPage
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

  init(_ page: DocumentationPage, starter: String) async throws {
    (self.page, self.starter) = (page, starter)
    programs = try TemporaryDirectory()
    let pipe = programs.file("starts")
    try #require(mkfifo(pipe, 0o600) == 0)
    // Its own writing end keeps the pipe open between two stand-ins.
    starts = try ChildProcess("/bin/sh", ["-c", "exec cat <> '\(pipe)'"], starter: starter)
    for name in [
      "browser", "contacts", "curl", "menu", "mpc", "nfc-list", "nfc-mfultralight", "opensc-tool", "xdg-open",
    ] {
      try programs.write(Self.standIn(pipe), to: name, mode: 0o755)
    }
    // Installs no package. If a package is missing, a later command fails.
    try programs.write("#!/bin/sh\n[ \"$1 $2\" = 'apt install' ]\n", to: "sudo", mode: 0o755)
    try #require(symlink(try BuiltProducts.program("tagroute"), programs.file("tagroute")) == 0)

    desktop = try await Desktop(environment: ["PATH": "\(programs.path):/usr/bin:/bin"], starter: starter)
    let directory = desktop.installation.directory
    try directory.write("", to: "home/.local/empty")
    try directory.write("", to: "home/share/empty")
    for (target, path) in [("config", "home/.config"), ("home/share", "home/.local/share")] {
      try #require(symlink(directory.file(target), directory.file(path)) == 0)
    }
    // The apps of the pages.
    try directory.write(
      HandlerStandIn.desktopEntry.replacing("Domains=", with: "Domains=*.example.org;"),
      to: "share/applications/\(HandlerStandIn.desktopID)")
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
    let preparation = try page.blocks(of: "")
    let first = try #require(preparation.first)
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
    for check in preparation.dropFirst() { #expect(try await paste(check, holding: nil).output.isEmpty) }
    return (output, message)
  }

  /// Pastes these blocks of any page, with a tag on the reader that can be written, and checks the files that they have
  /// left.
  func paste(_ blocks: [DocumentationPage.Block]) async throws {
    try await placeTagAndFiles()
    for block in blocks {
      switch block.contents {
      case .commands(let text): _ = try await exit(of: try shell(text), text)
      case .file(let text, let path): try write(text, to: path)
      case .text: break
      }
    }
    let check = "tagroute rules --check\ntagroute handlers --check\n"
    _ = try await exit(of: try shell(check), "\(page.name): \(check)")
  }

  /// The files that the pages presuppose are below the home directory: entries of apps, and a message.
  private func placeTagAndFiles() async throws {
    let tag = try Tag(1)
    try await desktop.place(tag)
    _ = try await shown()
    try desktop.installation.directory.write(tag.message, to: "home/card.ndef")
    try write(HandlerStandIn.desktopEntry, to: HandlerStandIn.desktopID)
    try write(
      "[Desktop Entry]\nType=Application\nName=Cards\nExec=contacts %f\nImplements=org.tagroute.Handler1;\n\n"
        + "[org.tagroute.Handler1]\nMimeTypes=text/vcard;image/*;\n",
      to: "share/applications/org.example.Cards.desktop")
    // The agent reads the entries before it answers.
    let check = "tagroute handlers --check\n"
    _ = try await exit(of: try shell(check), check)
  }

  private static func ruleCount(of block: DocumentationPage.Block) -> Int {
    switch block.contents {
    case .commands(let text): text.ranges(of: "tagroute rules add ").count
    case .file(let text, _): text.ranges(of: "[Rule ").count
    case .text: 0
    }
  }

  /// Starts commands in the home directory.
  private func shell(_ text: String) throws -> ChildProcess {
    try ChildProcess(
      "/bin/bash", ["-e", "-c", "cd\n\(text)"], environment: desktop.installation.environment, starter: starter)
  }

  /// Waits until the commands have ended without an error. Returns their output.
  private func exit(of shell: ChildProcess, _ text: String) async throws -> String {
    let status = try await shell.exit()
    let log = await shell.log()
    try #require(status == .exited(0), "\(text)\(log.joined(separator: "\n"))")
    return await shell.standardOutput()
  }

  private func write(_ text: String, to path: String) throws {
    try desktop.installation.directory.write(text, to: "home/\(path)")
  }

  private func paste(
    _ block: DocumentationPage.Block, holding tag: Tag?
  ) async throws -> (output: String, message: [UInt8]?) {
    switch block.contents {
    case .text(let text): throw RigError("\(page.name): no test pastes this block:\n\(text)")
    case .file(let text, let path):
      try write(text, to: path)
      return ("", nil)
    case .commands(let text):
      let writes = text.contains("tagroute write ")
      let waits = writes || text.contains("--wait") || text.contains("tagroute info")
      let shell = try shell(text)
      if waits {
        try await desktop.status { $0.suspendReasons == ["reader-session"] }
        if writes { try await placeBlankTag() } else { try await desktop.place(try #require(tag)) }
      }
      let output = try await exit(of: shell, text)
      let message = writes ? try await messageOnReader() : nil
      if waits {
        try await desktop.installation.simulate("remove")
        try await desktop.scanning()
        try await desktop.lookedAround()
      }
      return (output, message)
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
