import Bus
import EventLoop
import Names
import TagrouteClient
import TestKit

/// The time to list taps of a large inbox: with the whole command, from the agent alone, and with the sqlite3 tool, which
/// sends the same query to the same file. Also the time of two other commands that only ask.
struct InboxBenchmark {
  let sizes: [Int]
  private let repetitions = 100
  private let clock = ContinuousClock()

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    results += try await otherCommands()
    for size in sizes { results += try await measure(size) }
  }

  private func otherCommands() async throws -> [Results.Series] {
    let installation = try await Installation()
    let server = try await installation.startWithMenu()
    let program = try BuiltProducts.program("tagroute")
    var series: [Results.Series] = []
    for arguments in [["status"], ["resolve", "https://menu.example.com/table/7"]] {
      var times: [Duration] = []
      for _ in 0..<repetitions {
        times.append(try await time { _ = try await output(program, arguments, installation) })
      }
      series.append(.init("tagroute \(arguments[0])", times))
    }
    withExtendedLifetime(server) {}
    await installation.stop()
    return series
  }

  private func measure(_ size: Int) async throws -> [Results.Series] {
    var options = Installation.Options()
    options.reader = .others
    options.agentSettings = ["Inbox": ["MaximumTaps=\(size)", "RetentionDays=3650"]]
    options.environment["TAGROUTE_LOG"] = "notice"
    let installation = try await Installation(options)
    let file = installation.directory.file("state/\(Names.Files.agentState)/\(Names.Files.inboxDatabase)")
    let client = try await AgentClient.connect(
      to: BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""), on: EventLoop(label: "bench"))
    // The agent creates the file, and the sqlite3 tool fills it in one transaction.
    _ = try await startAgent(installation, client)
    try await stopAgent(installation)
    let sqlite = try BuiltProducts.systemProgram("sqlite3", package: "sqlite3")
    _ = try await output(sqlite, [file, Self.filling(size)], installation)
    let labels: KeyValuePairs = ["Taps": "\(size)"]
    var series: [Results.Series] = [.init("file", Double(try readFile(file).count) / 1_000_000, "MB", labels)]

    var first: [Duration] = []
    for number in 0..<10 {
      if number > 0 { try await stopAgent(installation) }
      first.append(try await startAgent(installation, client))
    }
    series.append(.init("from the name on the bus to the first list", first, labels))

    let middle = try await output(
      sqlite, [file, "SELECT id FROM taps ORDER BY sequence LIMIT 1 OFFSET \(size / 2)"], installation)
    let questions: [(String, [String], String)] = [
      ("the newest 100", [], "sequence < 9223372036854775807"),
      ("the newest 100 that failed", ["--state", "failed"], "state IN ('failed', 'failed-off-screen')"),
      ("100 from the middle", ["--before", middle], "sequence < (SELECT sequence FROM taps WHERE id = '\(middle)')"),
    ]
    for (name, arguments, condition) in questions {
      series += try await compare(
        ["Taps": "\(size)", "List": name], arguments, condition, installation, client, file: file, middle: middle)
    }
    series += try await search(client, size)
    series.append(.init("TagRead to stored", try await storing(installation), labels))
    // The inbox was full, so each of them has replaced the oldest.
    let kept = try await output(sqlite, ["-readonly", file, "SELECT count(*) FROM taps"], installation)
    series.append(.init("taps kept", Double(kept) ?? 0, "", labels))
    await installation.stop()
    return series
  }

  /// Questions that look at every tap: no tap has the text. LIKE finds ASCII letters, and GLOB others.
  private func search(_ client: AgentClient, _ size: Int) async throws -> [Results.Series] {
    var series: [Results.Series] = []
    for text in ["nowhere", "überall"] {
      let labels: KeyValuePairs = ["Taps": "\(size)", "Text": text]
      var (lists, counts) = ([Duration](), [Duration]())
      for _ in 0..<repetitions / 5 {
        lists.append(try await time { _ = try await client.taps(InboxFilter(text: text)) })
        counts.append(try await time { _ = try await client.count(InboxFilter(text: text)) })
      }
      series += [.init("search", lists, labels), .init("count of the search", counts, labels)]
    }
    var counts: [Duration] = []
    for _ in 0..<repetitions { counts.append(try await time { _ = try await client.count() }) }
    return series + [.init("count of all taps", counts, ["Taps": "\(size)"])]
  }

  /// The times from `TagRead` to the agent's reply, which it sends after it has stored the tap.
  private func storing(_ installation: Installation) async throws -> [Duration] {
    let server = try await NotificationServerStandIn.start(
      on: BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""))
    let source = try await TapSource.start(on: BusAddress(installation.systemBus.address))
    try await installation.agent?.line(containing: "registered with the daemon")
    var times: [Duration] = []
    for number in 1...repetitions {
      times.append(try await time { try await source.give(SampleTap(number)) })
      _ = try await server.next()
    }
    return times
  }

  private func compare(
    _ labels: KeyValuePairs<String, String>, _ arguments: [String], _ condition: String, _ installation: Installation,
    _ client: AgentClient, file: String, middle: String
  ) async throws -> [Results.Series] {
    let select =
      "SELECT id, time, uri, title, handler, state FROM taps WHERE \(condition) ORDER BY sequence DESC LIMIT 100"
    let program = try BuiltProducts.program("tagroute")
    let sqlite = try BuiltProducts.systemProgram("sqlite3", package: "sqlite3")
    var command: [Duration] = []
    var answer: [Duration] = []
    var tool: [Duration] = []
    // In turns, so that all three meet the same conditions on the machine.
    for _ in 0..<repetitions {
      command.append(try await time { _ = try await output(program, ["inbox"] + arguments, installation) })
      answer.append(
        try await time {
          _ = try await client.taps(
            state: arguments.first == "--state" ? "failed" : nil,
            before: arguments.first == "--before" ? middle : nil)
        })
      tool.append(try await time { _ = try await output(sqlite, ["-readonly", file, select], installation) })
    }
    return [
      .init("tagroute inbox", command, labels), .init("the agent's answer alone", answer, labels),
      .init("the sqlite3 tool", tool, labels),
    ]
  }

  private func time(_ body: () async throws -> Void) async throws -> Duration {
    let start = clock.now
    try await body()
    return clock.now - start
  }

  private func output(_ program: String, _ arguments: [String], _ installation: Installation) async throws -> String {
    let process = try await installation.start(program, arguments)
    guard try await process.exit(within: .seconds(300)) == .exited(0) else {
      throw RigError("\(program): " + (await process.log().suffix(5).joined(separator: "\n")))
    }
    return String(await process.standardOutput().dropLast())
  }

  /// Returns the time from the moment when the agent's name is on the bus to its first list.
  private func startAgent(_ installation: Installation, _ client: AgentClient) async throws -> Duration {
    let bus = BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
    let connection = try await Connection.open(bus, on: EventLoop(label: "owner"))
    let owners = try await connection.owners(of: Names.Agent.busName)
    try await installation.startAgent()
    for await owner in owners where owner != nil { break }
    return try await time { _ = try await client.taps() }
  }

  private func stopAgent(_ installation: Installation) async throws {
    guard let agent = await installation.agent else { return }
    agent.signal(15)
    try await agent.exit()
  }

  /// Taps as after a year: most delivered, some expired or dismissed, one in a hundred failed. Messages have 60 to 900
  /// bytes, and one in fifty has 8,000.
  static func filling(_ size: Int) -> String {
    """
    BEGIN;
    WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < \(size))
    INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed)
    SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8'
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
      (unixepoch() - (\(size) - i) * 300) * 1000000,
      randomblob(CASE WHEN i % 50 = 0 THEN 8000 ELSE 60 + abs(random() % 840) END), 'type-2', randomblob(7),
      '/org/tagroute/Tagroute1/readers/1', 'https://menu.example.com/table/' || i, 'menu.example.com/table/' || i,
      'org.example.Menu.desktop',
      CASE WHEN i % 100 = 0 THEN 'failed' WHEN i % 7 = 0 THEN 'expired' WHEN i % 5 = 0 THEN 'dismissed'
        ELSE 'delivered' END,
      (unixepoch() - (\(size) - i) * 300) * 1000000
    FROM number;
    COMMIT;
    """
  }
}
