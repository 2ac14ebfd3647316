import Bus
import EventLoop
import Names
import TestKit

/// What the window takes with 10,000 taps in the inbox: until its first frame, in memory, and for each frame while taps
/// arrive and while the list scrolls.
///
/// The X server, the agent and the window are real. Only the daemon and the notification server are stand-ins.
struct WindowBenchmark {
  private let taps = 10_000
  private let starts = 5
  private let arriving = 1000

  /// Frames of a window: when each ended, and how long it took.
  private struct Frame {
    /// Of CLOCK_MONOTONIC.
    let end: Duration
    let work: Duration
  }

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-gtk"])
    let screen = try await VirtualScreen(size: "1000x760")
    var options = Installation.Options()
    options.reader = .others
    options.agentSettings = ["Inbox": ["MaximumTaps=\(taps)", "RetentionDays=3650"]]
    options.environment = [
      "DISPLAY": screen.display, "GDK_BACKEND": "x11", "GTK_A11Y": "none", "ADW_DISABLE_PORTAL": "1",
      "TAGROUTE_LOG": "notice",
    ]
    options.dataDirectories = ["/usr/share"]
    let installation = try await Installation(options)
    let bus = BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
    let server = try await NotificationServerStandIn.start(on: bus)
    let source = try await TapSource.start(on: BusAddress(installation.systemBus.address))
    // The agent creates the file.
    try await startAgent(installation)
    try await fill(installation)
    try await startAgent(installation)

    var first: [Duration] = []
    for number in 0..<starts {
      let log = installation.directory.file("frames.\(number)")
      let begin = now
      let window = try await open(installation, log)
      first.append(try await frames(log) { !$0.isEmpty }[0].end - begin)
      try await close(window)
    }
    results.series.append(.init("from the start to the first frame", first))

    let log = installation.directory.file("frames")
    let window = try await open(installation, log)
    _ = try await frames(log) { !$0.isEmpty }
    var begin = now
    for number in 1...arriving {
      try await source.give(SampleTap(number))
      _ = try await server.next()
    }
    results.series.append(.init("frames while taps arrive", try await work(log, since: begin)))
    let memory = try ProcessMemory(of: window.identifier)
    results.series.append(.init("private memory", Double(memory.written + memory.alone), "kB"))
    results.series.append(.init("private memory, written", Double(memory.written), "kB"))
    let keys = try BuiltProducts.systemProgram("xdotool", package: "xdotool")
    begin = now
    _ = try await ChildProcess.run(
      keys, ["key", "ctrl+f", "Tab", "Tab", "Down"], environment: installation.environment)
    _ = try await ChildProcess.run(
      keys, ["key", "--repeat", "300", "--delay", "20", "Page_Down"], environment: installation.environment)
    results.series.append(.init("frames while the list scrolls", try await work(log, since: begin)))
    try await close(window)
    await installation.stop()
    screen.process.signal(15)
  }

  private var now: Duration { .nanoseconds(SystemClock.monotonic) }

  private func startAgent(_ installation: Installation) async throws {
    try await installation.startAgent()
    try await installation.agent?.line(containing: "registered with the daemon")
  }

  private func fill(_ installation: Installation) async throws {
    guard let agent = await installation.agent else { throw RigError("tagroute-agent does not run") }
    try await close(agent)
    let file = installation.directory.file("state/\(Names.Files.agentState)/\(Names.Files.inboxDatabase)")
    let sqlite = try BuiltProducts.systemProgram("sqlite3", package: "sqlite3")
    let result = try await ChildProcess.run(sqlite, [file, InboxBenchmark.filling(taps)])
    guard result.status == .exited(0) else { throw RigError("sqlite3: \(result.output)") }
  }

  private func open(_ installation: Installation, _ log: String) async throws -> ChildProcess {
    var environment = installation.environment
    environment["TAGROUTE_FRAMES"] = log
    return try ChildProcess(BuiltProducts.program("tagroute-gtk"), [], environment: environment)
  }

  private func close(_ process: ChildProcess) async throws {
    process.signal(15)
    _ = try await process.exit()
  }

  private func work(_ log: String, since begin: Duration) async throws -> [Duration] {
    try await frames(log) { _ in true }.filter { $0.end > begin }.map(\.work)
  }

  /// The frames so far, as soon as they are enough.
  private func frames(_ log: String, areEnough: ([Frame]) -> Bool) async throws -> [Frame] {
    let limit = now + .seconds(30)
    while now < limit {
      let text = (try? readFile(log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let frames = text.split(separator: "\n").compactMap { line in
        let numbers = line.split(separator: " ").compactMap { Int64($0) }
        return numbers.count == 2 ? Frame(end: .microseconds(numbers[0]), work: .microseconds(numbers[1])) : nil
      }
      if areEnough(frames) { return frames }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw RigError("the window has drawn no frame in 30 s")
  }
}
