import Glibc
import NDEF
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// `tagroute report`, with a tag that is read while it records.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReportTests {
  private static let uid: [UInt8] = [0x04, 0xC0, 0xFF, 0xEE, 0x12, 0x34, 0x56]
  private static let secret = "s3cret words of a person"

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

  /// Neither as text nor in hexadecimal digits.
  private func checkPrivacy(_ files: [String: String]) throws {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let content = Hexadecimal.text(Self.secret.utf8)
    // Any six bytes of the text.
    let parts = stride(from: 0, through: content.count - 12, by: 2).map { start in
      String(content.dropFirst(start).prefix(12))
    }
    let secrets =
      [
        Hexadecimal.text(Self.uid), Hexadecimal.text(Self.uid.reversed()), Hexadecimal.text(Self.uid.suffix(4)),
        Self.secret, "s3cret", "menu.example.com/s", host,
      ] + parts
    for (file, text) in files {
      for secret in secrets where text.uppercased().contains(secret.uppercased()) {
        Issue.record("\(file) has \(secret)")
      }
    }
  }

  @Test func `a report of a libnfc reader has the exchanges of a tap, and nothing that is private`() async throws {
    let (desktop, server) = try await Desktop.started()
    _ = try await desktop.startPolkit()
    let file = try desktop.installation.directory.write(try message(), to: "tag.ndef")
    let files = try await report(desktop) {
      try await desktop.installation.simulate(
        "tap --type 2 --ndef \(file) --uid \(Hexadecimal.text(Self.uid).lowercased())")
      _ = try await server.nextTap()
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
    let taps = lines.compactMap { line in if case .tap(let tap) = line.event { tap } else { nil } }
    #expect(taps.count == 1)
    let tap = try #require(taps.first)
    #expect(tap.type == "type-2" && tap.uid == [0x04, 0, 0, 0, 0, 0, 1])
    let records = try NDEFMessage(decoding: try #require(tap.message)).records
    #expect(String(decoding: records[0].payload.dropFirst(), as: UTF8.self) == "xxxx.xxxxxxx.xxx/x0xxxx")
    try checkPrivacy(files)
    // The reader goes on without a trace.
    try await desktop.status { $0.scanning }
  }

  @Test func `a report of a PC/SC reader has the calls of a tap, and nothing that is private`() async throws {
    let desk = try await CardDesktop.started()
    _ = try await desk.desktop.startPolkit()
    let tag = try SimulatedTag.type2(.ntag215, message: try message(), uid: .fixed(Self.uid))
    let files = try await report(desk.desktop) {
      _ = try await desk.readers.insert(SimulatedCard(tag), into: desk.attached[0].slot)
      _ = try await desk.server.nextTap()
    }
    let lines = try trace(files["trace-0.jsonl"])
    for call in [TraceLine.Exchange.Call.connect, .transmit] {
      #expect(lines.contains { if case .exchange(let exchange) = $0.event { exchange.call == call } else { false } })
    }
    #expect(lines.contains { if case .slot(_, let answer) = $0.event { !answer.isEmpty } else { false } })
    #expect(lines.contains { if case .tap(let tap) = $0.event { tap.message != nil } else { false } })
    try checkPrivacy(files)
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
  }
}
