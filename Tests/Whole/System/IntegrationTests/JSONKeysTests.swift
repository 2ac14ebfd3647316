import EventLoop
import Foundation
import NDEF
import Names
import TagrouteClient
import TestKit
import Testing

/// Compares the keys of `--json` in the manual pages with the keys that the real commands print.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct JSONKeysTests {
  /// The keys of each command in the sections JSON of the pages, by heading. A key of a nested object follows the key of that
  /// object and a dot.
  private static func listed() throws -> [String: Set<String>] {
    let folder = "\(repositoryRoot)/docs/man"
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".1.scd") }
    let section = try pages.sorted().compactMap { name in
      let parts = String(decoding: try readFile("\(folder)/\(name)"), as: UTF8.self).split(separator: "\n# JSON\n")
      return parts.count > 1 ? parts[1].split(separator: "\n# ").first : nil
    }.joined(separator: "\n")
    var (keys, others): ([String: Set<String>], [(heading: String, key: String, command: String)]) = ([:], [])
    var (heading, row) = ("", [String]())
    for line in section.split(separator: "\n") {
      if line.hasPrefix("## ") {
        heading = String(line.dropFirst(3))
      } else if line.hasPrefix("|") {
        row = line.matches(of: /\*([\w.]+)\*/).map { String($0.1) }
        keys[heading, default: []].formUnion(row)
      } else if line.hasPrefix(":"), let key = row.first, let other = line.firstMatch(of: /as in \*(.+?)\*/) {
        others.append((heading, key, String(other.1)))
      }
    }
    // "As in" another command refers to the list with the same key there, or otherwise to all keys of that command.
    for (heading, key, command) in others {
      let there = keys[command] ?? []
      let same = there.filter { $0.hasPrefix("\(key).") }
      keys[heading]?.formUnion(same.isEmpty ? Set(there.map { "\(key).\($0)" }) : same)
    }
    return keys
  }

  /// The keys of each object in a value, with the path of the object.
  private static func objects(_ value: Any, at path: String = "") -> [(path: String, keys: Set<String>)] {
    if let list = value as? [Any] { return list.flatMap { objects($0, at: path) } }
    guard let object = value as? [String: Any] else { return [] }
    return [(path, Set(object.keys.map { path + $0 }))] + object.flatMap { objects($1, at: "\(path)\($0).") }
  }

  private static func value(_ text: some StringProtocol) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8))
  }

  /// The printed keys, in the form of `listed`.
  private actor Printed {
    private var objects: [String: [String: Set<String>]] = [:]

    /// Checks that all objects at one path have the same keys.
    func add(_ heading: String, _ found: [(path: String, keys: Set<String>)]) {
      for (path, keys) in found {
        #expect(objects[heading]?[path] ?? keys == keys, "\(heading): \(path)")
        objects[heading, default: [:]][path] = keys
      }
    }

    var keys: [String: Set<String>] { objects.mapValues { $0.values.reduce(into: []) { $0.formUnion($1) } } }
  }

  private let printed = Printed()

  private func note(_ heading: String, _ text: some StringProtocol) async throws {
    await printed.add(heading, Self.objects(try Self.value(text)))
  }

  /// Runs a command that must exit with one of `codes`, and records the printed keys under a heading of the pages.
  private func run(
    _ heading: String, _ desktop: Desktop, _ arguments: String..., codes: [Int32] = [0]
  ) async throws {
    let result = try await desktop.installation.tagroute(arguments + ["--json"])
    try #require(codes.contains { result.status == .exited($0) }, "\(arguments): \(result)")
    try await note(heading, result.output)
  }

  @Test func `the manual pages list exactly the keys that the commands print`() async throws {
    let (desktop, _, _) = try await Desktop.sound()
    let monitor = try await desktop.installation.start("tagroute", ["monitor", "--json"])
    try await monitor.line(containing: #""event":"status""#)

    try await askOfTheMachine(desktop)
    try await askOfApps(desktop)
    let taps = try await tap(three: desktop, monitor)
    try await monitor.line(containing: #""event":"tag-removed""#)
    try await askOfTags(desktop)
    try await askOfTheInbox(desktop, taps)
    try await askOfADemonstration()

    try await monitor.line(containing: #""event":"inbox-cleared""#)
    let daemon = try await desktop.daemon
    try await daemon.exit(after: SIGTERM)
    try await monitor.line(containing: "daemon-gone")
    for line in await monitor.log() {
      let event = (try Self.value(line) as? [String: Any])?["event"] as? String
      try await note("monitor: \(event ?? "")", line)
    }

    let (listed, keys) = (try Self.listed(), await printed.keys)
    #expect(listed.keys.sorted() == keys.keys.sorted())
    for (heading, expected) in listed { #expect(expected.sorted() == keys[heading]?.sorted(), "\(heading)") }
  }

  private func askOfTheMachine(_ desktop: Desktop) async throws {
    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    do {
      let inhibitor = try await client.inhibit(who: "Wallet", why: "a payment is in progress")
      try await run("status", desktop, "status")
      withExtendedLifetime(inhibitor) {}
    }
    try desktop.installation.directory.write(
      "[Mqtt]\nBroker=mqtt://localhost:1\nStation=desk\n", to: "config/tagroute/mqtt.conf", mode: 0o600)
    let mqtt = try await desktop.installation.start("tagroute-mqtt")
    try await mqtt.line(containing: "cannot connect")
    try await run("status", desktop, "status")
    try await mqtt.exit(after: SIGTERM)
    try await run("doctor", desktop, "doctor", codes: [0, 1])
    let report = desktop.installation.directory.file("report.tar.gz")
    try await run("report", desktop, "report", "--yes", "--minutes", "0", report)
    try await run("on, off", desktop, "off")
    try await run("on, off", desktop, "on")
    try await run("session", desktop, "session", "lock")
    try await run("session", desktop, "session", "unlock")
    try await desktop.scanning()
  }

  private func askOfApps(_ desktop: Desktop) async throws {
    let (app, domain) = (HandlerStandIn.desktopID, "menu.example.com")
    try await run("resolve", desktop, "resolve", "https://menu.example.com/table/7")
    try desktop.installation.directory.write(
      "[Rule one]\nUID=04-00-00-00-00-00-77\nShow=yes\n[Rule two]\nUID=x\nShow=yes\n",
      to: "config/tagroute/rules.d/a.conf", mode: 0o600)
    try await run("rules", desktop, "rules")
    try await run("rules --check", desktop, "rules", "--check", codes: [1])
    try await run("rules add", desktop, "rules", "add", "three", "--uid", "04-00-00-00-00-00-78", "--ignore")
    try await run("rules remove", desktop, "rules", "remove", "one")
    try await run("handlers, handlers --check", desktop, "handlers")
    try await run("handlers, handlers --check", desktop, "handlers", "--check")
    // No server listens there.
    try await run(
      "handlers verify", desktop, "handlers", "verify", app, "--server", "127.0.0.1:9",
      codes: [Names.ExitCode.tryAgain])
    try await run("handlers verify --due", desktop, "handlers", "verify", "--due")
    let choices = "handlers prefer, handlers block, handlers forget"
    try await run(choices, desktop, "handlers", "prefer", app, domain)
    try await run(choices, desktop, "handlers", "block", "other.desktop")
    try await run(choices, desktop, "handlers", "forget", "--domain", "example.org")
  }

  /// Returns the ids of three taps. The tag of the last one lies on the reader.
  private func tap(three desktop: Desktop, _ monitor: ChildProcess) async throws -> [String] {
    var ids: [String] = []
    let others = [
      try WiFiRecord([WiFiNetwork(ssid: "Guest", passphrase: "visitors")]).record(), URIRecord("geo:1,2").record(),
      try .media("text/vcard", payload: Array("BEGIN:VCARD".utf8)),
    ]
    for number in 1...3 {
      try await desktop.place(try Tag(number, others: others))
      let line = try await monitor.line(containing: Tag.text(number))
      ids.append(try #require((try Self.value(line) as? [String: Any])?["id"] as? String))
    }
    return ids
  }

  private func askOfTags(_ desktop: Desktop) async throws {
    for command in ["read", "info"] { try await run(command, desktop, command) }
    try await run("transceive", desktop, "transceive", "3000")
    try await run("write", desktop, "write", "--uri", "https://menu.example.com/")
    try await run("lock", desktop, "lock", "--yes")
  }

  private func askOfTheInbox(_ desktop: Desktop, _ taps: [String]) async throws {
    let changes = "inbox open, inbox dismiss"
    try await run(changes, desktop, "inbox", "open", taps[0], "--handler", HandlerStandIn.desktopID)
    try await run(changes, desktop, "inbox", "dismiss", taps[1])
    try await run("inbox", desktop, "inbox")
    // For the dismissed tap, `now` is an object.
    for id in taps { try await run("inbox show", desktop, "inbox", "show", id) }
    let file = desktop.installation.directory.file("exported")
    try await run("inbox export", desktop, "inbox", "export", taps[0], file)
    try await run("inbox export", desktop, "inbox", "export", "--all", "--force", file)
    for line in String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n") {
      try await note("inbox show", line)
    }
    // The third tap is on the screen and stays in the inbox.
    try await run("inbox clear", desktop, "inbox", "clear", "--yes")
  }

  private func askOfADemonstration() async throws {
    let home = try TemporaryDirectory()
    for (source, target, mode) in [
      ("org.example.Menu.desktop", ".local/share/applications/org.example.Menu.desktop", mode_t(0o644)),
      ("tagroute-example-menu", "bin/tagroute-example-menu", 0o755),
    ] { try home.write(try readFile("\(repositoryRoot)/Config/examples/\(source)"), to: target, mode: mode) }
    let (status, output, log) = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["demo", "--json", "--uri", "https://menu.example.com/"],
      environment: [
        "HOME": home.path, "PATH": "\(home.file("bin")):/usr/bin:/bin", "XDG_DATA_DIRS": home.file("system"),
      ])
    try #require(status == .exited(0), "\(log)")
    try await note("demo", output)
  }
}
