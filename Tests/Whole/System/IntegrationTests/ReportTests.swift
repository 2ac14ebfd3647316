import Glibc
import NDEF
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// `tagroute report`, with tags that are read while it records.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReportTests {
  private static let uid: [UInt8] = [0x04, 0xC0, 0xFF, 0xEE, 0x12, 0x34, 0x56]
  private static let secret = "s3cret words of a person"
  private static let redactedLink = "xxxx.xxxxxxx.xxx/x0xxxx"
  /// In a reader session.
  private static let word = "k3yz"
  /// The name of a user.
  private static let person = "adalovelace"

  /// What the archive contains, by the names of the files.
  private func files(of archive: String, _ installation: Installation) async throws -> [String: String] {
    let folder = installation.directory.file("unpacked")
    mkdir(folder, 0o700)
    let result = try await ChildProcess.run("/usr/bin/tar", ["--extract", "--file", archive, "--directory", folder])
    #expect(result.status == .exited(0), "\(result.log)")
    let list = try await ChildProcess.run("/usr/bin/tar", ["--list", "--file", archive])
    var files: [String: String] = [:]
    for name in list.output.split(separator: "\n").map(String.init) {
      files[name] = String(decoding: try readFile("\(folder)/\(name)"), as: UTF8.self)
    }
    return files
  }

  /// Runs the command while `tap` puts a tag on the reader, and returns the files.
  private func report(
    _ desktop: Desktop, _ options: [String] = [], while tap: () async throws -> Void
  ) async throws -> [String: String] {
    let archive = desktop.installation.directory.file("report.tar.gz")
    let process = try await desktop.installation.start("tagroute", ["report", "--yes", archive] + options, input: true)
    try await process.line(containing: "Recording reader")
    try await tap()
    try await process.send("")
    #expect(try await process.exit() == .exited(0))
    return try await files(of: archive, desktop.installation)
  }

  private func trace(_ text: String?) throws -> [TraceLine] {
    try #require(text).split(separator: "\n").compactMap { try TraceLine.read(Array($0.utf8)) }
  }

  private func message() throws -> [UInt8] {
    try NDEFMessage(
      records: NDEFMessage.uri("https://menu.example.com/\(Self.secret.split(separator: " ")[0])").records
        + [TextRecord(Self.secret, language: "en").record()]
    ).encoded()
  }

  /// The first taps of a trace. Each has the message of `message()` with other letters, and a made-up identifier.
  private func taps(_ lines: [TraceLine], _ count: Int) throws -> [TraceLine.Tap] {
    let taps = lines.compactMap { line in if case .tap(let tap) = line.event { tap } else { nil } }
    for tap in taps.prefix(count) {
      let records = try NDEFMessage(decoding: try #require(tap.message, "\(tap)")).records
      #expect(String(decoding: records[0].payload.dropFirst(), as: UTF8.self) == Self.redactedLink)
      #expect(tap.uid.count { $0 != 0 } <= 3, "\(tap)")
    }
    return Array(taps.prefix(count))
  }

  /// Neither as text nor in hexadecimal digits.
  private func checkPrivacy(_ files: [String: String], _ identifiers: [[UInt8]]) throws {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let content = Hexadecimal.text(Self.secret.utf8)
    // Any six bytes of the text.
    let parts = stride(from: 0, through: content.count - 12, by: 2).map { start in
      String(content.dropFirst(start).prefix(12))
    }
    let numbers = identifiers.flatMap { [$0, $0.reversed(), Array($0.suffix(4))] }.map { Hexadecimal.text($0) }
    let secrets =
      numbers + [Self.secret, "s3cret", "menu.example.com/s", host, Self.person, Hexadecimal.text(Self.word.utf8)]
      + parts
    for (file, text) in files {
      for secret in secrets where text.uppercased().contains(secret.uppercased()) {
        Issue.record("\(file) has \(secret)")
      }
    }
  }

  @Test func `a report of a libnfc reader has the exchanges of taps, and nothing that is private`() async throws {
    let desktop = try await Desktop(
      environment: ["USER": Self.person, "XDG_CURRENT_DESKTOP": "desktop of \(Self.person)"])
    let server = try await desktop.startWithServer()
    _ = try await desktop.startPolkit()
    let file = try desktop.installation.directory.write(try message(), to: "tag.ndef")
    let kinds: [(name: String, uid: [UInt8])] = [
      ("1", [0xC0, 0xFF, 0xEE, 0x12, 0x34, 0x56, 0x25]), ("3", []), ("4", [0x04, 0xDE, 0xC0, 0xDE, 0x65, 0x43, 0x21]),
      ("4b", [0x5C, 0xAF, 0xE5, 0x12]), ("classic", [0x04, 0xFA, 0xCA, 0xDE]), ("2", Self.uid),
    ]
    let files = try await report(desktop, ["--minutes", "5"]) {
      for (name, uid) in kinds {
        let option = uid.isEmpty ? "" : " --uid \(Hexadecimal.text(uid).lowercased())"
        try await desktop.installation.simulate("tap --type \(name) --ndef \(file)\(option)")
        _ = try await server.nextTap()
      }
      // In a reader session.
      let word = Hexadecimal.text(Self.word.utf8)
      for arguments in [["transceive", "--write", "A220\(word)"], ["transceive", "3020"]] {
        let result = try await desktop.installation.tagroute(arguments)
        #expect(result.status == .exited(0), "\(result.log)")
      }
    }
    #expect(
      Set(files.keys).isSuperset(of: ["doctor.txt", "status.json", "versions.txt", "usb.txt", "trace-0.jsonl"]),
      "\(files.keys)")
    let lines = try trace(files["trace-0.jsonl"])
    guard case .header(let program, let library)? = lines.first?.event else {
      Issue.record("no header: \(lines)")
      return
    }
    #expect(program == "tagroute-reader \(Names.version)")
    #expect(library.hasPrefix("libnfc "))
    #expect(
      try taps(lines, kinds.count).map(\.type)
        == ["type-1", "type-3", "type-4a", "type-4b", "mifare-classic", "type-2"])
    #expect(lines.contains { if case .exchange(let exchange) = $0.event { exchange.isOfSession } else { false } })
    #expect(files["versions.txt"]?.contains("XDG_CURRENT_DESKTOP=desktop of USER\n") == true)
    try checkPrivacy(files, kinds.map(\.uid).filter { !$0.isEmpty })
    // The reader goes on without a trace.
    try await desktop.status { $0.scanning }
  }

  @Test func `a report of a PC/SC reader has the calls of taps, and nothing that is private`() async throws {
    let desk = try await CardDesktop.started([.acr122U, .acr1552U])
    _ = try await desk.desktop.startPolkit()
    let message = try message()
    let files = try await report(desk.desktop, ["--minutes", "5"]) {
      for kind in TagKind.allCases {
        let tag =
          try kind == .type2
          ? SimulatedTag.type2(.ntag215, message: message, uid: .fixed(Self.uid)) : kind.make(message)
        let card = try await desk.place(tag, on: kind == .type5 ? 1 : 0)
        _ = try await desk.shown()
        try await desk.remove(card)
      }
    }
    let lines = try files.filter { $0.key.hasPrefix("trace-") }.flatMap { try trace($0.value) }
    for call in [TraceLine.Exchange.Call.connect, .transmit] {
      #expect(lines.contains { if case .exchange(let exchange) = $0.event { exchange.call == call } else { false } })
    }
    #expect(lines.contains { if case .slot(_, let answer) = $0.event { !answer.isEmpty } else { false } })
    let kinds = try taps(lines, TagKind.allCases.count).map(\.type)
    #expect(Set(kinds).count == TagKind.allCases.count, "\(kinds)")
    try checkPrivacy(files, [Self.uid])
  }

  /// The redacted trace still has the structure of the tag.
  @Test(arguments: ["1", "2", "3", "4", "4b", "classic"])
  func `a recorded tap comes again without its contents`(kind: String) async throws {
    let (desktop, server) = try await Desktop.started()
    _ = try await desktop.startPolkit()
    let file = try desktop.installation.directory.write(try message(), to: "tag.ndef")
    let files = try await report(desktop) {
      // The daemon does not announce a tag that is there when it starts to scan.
      try await desktop.installation.simulate("wait 120")
      try await desktop.installation.simulate("tap --type \(kind) --ndef \(file)")
      _ = try await server.nextTap()
    }
    let trace = try desktop.installation.directory.write(try #require(files["trace-0.jsonl"]), to: "trace.jsonl")
    let link = desktop.installation.directory.file("replayed")

    let other = try await Desktop(.others, reader: ["Devices=pn532_uart:\(link)"])
    let screen = try await other.startServer()
    let simulator = try await other.installation.start(
      "tagroute-simulator", ["--replay", trace, "--link", link], input: true)
    try await simulator.line(containing: "ready")
    try await other.installation.startDaemon()
    try await other.installation.startAgent()
    let shown = try await other.within("a notification of the recorded tap") { try await screen.nextTap() }
    #expect(shown.body.contains(Self.redactedLink), "\(shown)")
    simulator.signal(SIGTERM)
  }

  @Test(arguments: TagKind.allCases)
  func `a recorded tap of a PC/SC reader comes again without its contents`(kind: TagKind) async throws {
    let desk = try await CardDesktop.started([kind == .type5 ? .acr1552U : .acr122U])
    _ = try await desk.desktop.startPolkit()
    let files = try await report(desk.desktop) {
      let card = try await desk.place(try kind.make(try message()))
      _ = try await desk.shown()
      try await desk.remove(card)
    }
    let trace = try TraceReplay(Array(try #require(files["trace-0.jsonl"]).utf8))
    let other = try await CardDesktop.started([.recorded(as: try #require(trace.readerName))])
    await other.readers.replay(trace, in: try other.slot)
    let shown = try await other.shown()
    #expect(shown.body.contains(Self.redactedLink), "\(shown)")
  }

  @Test func `with contents the tap is as it was`() async throws {
    let (desktop, server) = try await Desktop.started()
    _ = try await desktop.startPolkit()
    let message = try message()
    let file = try desktop.installation.directory.write(message, to: "tag.ndef")
    let files = try await report(desktop, ["--with-contents"]) {
      try await desktop.installation.simulate(
        "tap --type 4 --ndef \(file) --uid \(Hexadecimal.text(Self.uid).lowercased())")
      _ = try await server.nextTap()
    }
    let lines = try trace(files["trace-0.jsonl"])
    #expect(
      lines.contains {
        if case .tap(let tap) = $0.event { tap.uid == Self.uid && tap.message == message } else { false }
      })
  }

  @Test func `a report without a daemon says what is missing`() async throws {
    let desktop = try await Desktop()
    let archive = desktop.installation.directory.file("report.tar.gz")
    let result = try await desktop.installation.tagroute("report", "--yes", archive)
    #expect(result.status == .exited(0), "\(result)")
    let files = try await files(of: archive, desktop.installation)
    #expect(files["remarks.txt"]?.contains("nothing was recorded: ") == true, "\(files)")
    #expect(files["doctor.txt"]?.contains("wrong  daemon: ") == true)
    let again = try await desktop.installation.tagroute("report", "--yes", archive)
    #expect(again.status == .exited(Names.ExitCode.cannotCreate))
    #expect(again.errors.joined().contains("--force overwrites it"), "\(again.errors)")
    let output = try await desktop.installation.tagroute("report", "--yes", "-")
    #expect(output.status == .exited(Names.ExitCode.usage))
    #expect(output.errors.joined().contains("cannot go to standard output"), "\(output.errors)")
  }
}
