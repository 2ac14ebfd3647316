import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit

/// The time from a tag placed at a random moment to the call of Notify, and to the start of a rule's program.
/// Simulator, libnfc, daemon, agent and two buses are real. Only the notification server is a stand-in, because it has
/// to report the time of the call.
struct TapBenchmark {
  let taps: Int
  /// The number of placements for the comparison. Each one costs a process or more.
  private let comparedTaps = 40

  func run() async throws {
    try await BenchmarkPrograms.build()
    let installation = try await Installation()
    let server = try await installation.startWithMenu()

    var latencies: [Duration] = []
    var commands: [Int] = []
    var exchanges: [Int] = []
    for number in 0..<taps {
      try await rest()
      let before = try await counters(installation)
      let uri = "https://menu.example.com/table/\(number)"
      let placed = SuspendingClock.now
      try await installation.simulate("tap \(uri) --type \(number % 2 == 0 ? 2 : 4) --uid \(uid(number))")
      let shown = try await server.next()
      latencies.append(SuspendingClock.now - placed)
      guard shown.body.contains("table/\(number)") || shown.summary.contains("table/\(number)") else {
        throw RigError("tap \(number): the notification is for another tag: \(shown.summary): \(shown.body)")
      }
      let after = try await counters(installation)
      commands.append(after["commands", default: 0] - before["commands", default: 0])
      exchanges.append(after["exchanges", default: 0] - before["exchanges", default: 0])
      try await installation.simulate("remove")
    }
    print(Distribution(latencies).line("tag placed to Notify, Type 2 and Type 4A by turns"))
    print(
      "  chip commands from one to the other, polling included: median \(median(commands)), most \(commands.max() ?? 0)"
    )
    print("  RF exchanges with the tag: median \(median(exchanges)), most \(exchanges.max() ?? 0)")
    let starts = try await programStarts(installation, server)
    print(Distribution(starts).line("tag placed to the start of a rule's program, Type 2 and Type 4A by turns"))

    await installation.daemon?.signal(SIGTERM)
    try await installation.daemon?.exit()
    print(Distribution(try await listLoop(installation)).line("tag placed to its line in a loop of nfc-list"))
    await installation.stop()
  }

  /// Taps tags with a rule that starts a program without a click. The rule is written only now: the taps before are
  /// those of a user without rules.
  private func programStarts(
    _ installation: Installation, _ server: NotificationServerStandIn
  ) async throws -> [Duration] {
    let program = try BuiltProducts.systemProgram("tee", package: "coreutils")
    let starts = try RuleStarts(installation.directory.file("rule-starts"))
    try installation.directory.write(
      "[Rule bench]\nLink=https://rule.example.com/*\nRun=\(program);\(starts.path);\nAsk=no\n",
      to: "config/tagroute/rules.d/bench.conf")
    guard let agent = await installation.agent else { throw RigError("tagroute-agent does not run") }
    try await agent.line(containing: "rules for taps in force: 1")
    var latencies: [Duration] = []
    for number in 0..<taps {
      try await rest()
      let placed = SuspendingClock.now
      try await installation.simulate(
        "tap https://rule.example.com/table/\(number) --type \(number % 2 == 0 ? 2 : 4) --uid \(uid(number))")
      // The call has a time limit. It follows the start if the rule was carried out without a click.
      let shown = try await server.next()
      guard shown.summary == "Started “bench”", let start = await starts.next() else {
        throw RigError("tap \(number): the rule has not started its program: \(shown.summary): \(shown.body)")
      }
      guard String(decoding: start.message, as: UTF8.self).hasSuffix("/table/\(number)") else {
        throw RigError("tap \(number): the program got the message of another tag")
      }
      latencies.append(start.time - placed)
      try await installation.simulate("remove")
    }
    return latencies
  }

  /// Runs the loop of a script without Tagroute: nfc-list over and over, until it prints the tag.
  private func listLoop(_ installation: Installation) async throws -> [Duration] {
    let program = try BuiltProducts.systemProgram("nfc-list", package: "libnfc-bin")
    var environment = installation.environment
    environment["LIBNFC_DEFAULT_DEVICE"] = "pn532_uart:\(installation.directory.file("reader"))"
    var latencies: [Duration] = []
    for number in 0..<comparedTaps {
      let loop = Task { [environment] in
        while true {
          let result = try await ChildProcess.run(program, [], environment: environment)
          if result.output.contains("UID") { return SuspendingClock.now }
        }
      }
      try await rest()
      let placed = SuspendingClock.now
      try await installation.simulate("tap https://menu.example.com/\(number) --uid \(uid(number))")
      latencies.append(try await loop.value - placed)
      try await installation.simulate("remove")
    }
    return latencies
  }

  /// Waits long enough for the removal to be noticed. The random length makes taps meet every phase of polling.
  private func rest() async throws { try await Task.sleep(for: .milliseconds(Int.random(in: 350...550))) }

  private func uid(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "04" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  private func median(_ numbers: [Int]) -> Int { numbers.sorted()[numbers.count / 2] }

  /// Parses the answer to `counters`, which consists of `name=number` words.
  private func counters(_ installation: Installation) async throws -> [String: Int] {
    var result: [String: Int] = [:]
    for word in try await installation.simulate("counters").split(separator: " ") {
      let parts = word.split(separator: "=")
      if parts.count == 2, let number = Int(parts[1]) { result[String(parts[0])] = number }
    }
    return result
  }
}

extension Installation {
  /// Installs an app for menu.example.com, and starts a stand-in for a notification server and all programs. Returns
  /// once the reader scans.
  func startWithMenu() async throws -> NotificationServerStandIn {
    try directory.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Menu
      Exec=/bin/true %u
      Implements=org.tagroute.Handler1;

      [org.tagroute.Handler1]
      Domains=menu.example.com;
      """, to: "share/applications/org.example.Menu.desktop")
    let server = try await NotificationServerStandIn.start(
      on: BusAddress(environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""))
    try await startAll()
    try await waitUntilScanning()
    return server
  }

  func waitUntilScanning() async throws {
    let daemon = try await DaemonClient.connect(to: BusAddress(systemBus.address), on: EventLoop(label: "bench"))
    for await _ in try await daemon.changes() {
      if let status = try? await daemon.status(), status.scanning { return }
    }
  }
}

/// The starts of a rule's program, with their times.
///
/// The program is `tee`, which opens a named pipe as soon as it runs and copies the message of the tag into it. So the
/// time includes loading the program.
final class RuleStarts: Sendable {
  struct Start: Sendable {
    /// When the message arrived in the pipe.
    let time: SuspendingClock.Instant
    /// The message that the program has read from its standard input.
    let message: [UInt8]
  }

  let path: String
  private let starts: AsyncStream<Start>
  private let watch: DescriptorWatch
  private let loop = EventLoop(label: "rule-starts")

  init(_ path: String) throws {
    self.path = path
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("make the pipe \(path)") }
    // Its own writing end keeps the pipe open between two programs.
    let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { throw SystemError("open the pipe \(path)") }
    let descriptor = FileDescriptor(owning: number)
    let (starts, continuation) = AsyncStream.makeStream(of: Start.self)
    self.starts = starts
    watch = try DescriptorWatch(descriptor, on: loop) {
      // A message of at most PIPE_BUF (4,096) bytes arrives as a whole.
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 { continuation.yield(Start(time: SuspendingClock.now, message: Array(buffer[..<count]))) }
    }
  }

  /// The next start, as soon as it happens; nil if the task was cancelled.
  func next() async -> Start? {
    for await start in starts { return start }
    return nil
  }
}
