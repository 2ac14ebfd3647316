import Bus
import EventLoop
import Glibc
import NDEF
import ReaderSimulator
import TagrouteClient
import TestKit

/// The time from a tag placed at a random moment on a modelled PN532 to the call of Notify, for each kind of tag, and how
/// much of it is left when the tag has sent its last byte. For comparison: to the start of a rule's program, and to the
/// message in nfcpy and in programs of libnfc.
///
/// libnfc, daemon, agent and two buses are real. Only the notification server is a stand-in, because it has to report
/// the time of the call.
struct TapBenchmark {
  /// How often a tag of each kind is placed until Notify. The other ends get a third of that.
  let taps: Int
  /// Of the simulated reader.
  let timing: TimingModel

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    let installation = try await Installation()
    let clock = MachineClock()
    let rig = Rig(
      clock: clock,
      reader: try await .start(timing: timing, link: installation.directory.file("reader"), clock: clock),
      installation: installation, server: try await installation.startWithMenu(simulator: false))
    results += try await notifications(rig)
    let starts = try await rig.startRule()
    results += try await measure("to the start of a rule's program") { try await rig.programStart($0, starts) }
    try await installation.daemon?.exit(after: SIGTERM)

    for program in [Program.nfcpy, .nfcpyWithoutPauses] {
      for kind in BenchmarkTag.all where kind.isPolledFor && kind.isKnownToNfcpy {
        do {
          guard let nfcpy = try await program.contender(on: rig.reader) as? any ReadingContender else { continue }
          try await nfcpy.start()
          results += try await measure("to the message in \(program.name)", of: [kind]) {
            try await rig.message($0, nfcpy)
          }
          await nfcpy.stop()
        } catch let error as RigError {
          print("\(program.name): \(error)")
        }
      }
    }
    for kind in BenchmarkTag.all {
      // nfc-list only names the tag.
      let tool = kind.tool ?? BenchmarkTag.Tool(program: "nfc-list", package: "libnfc-bin", arguments: [])
      let program = try BuiltProducts.systemProgram(tool.program, package: tool.package)
      results += try await measure("to the end of \(tool.program) in a loop", of: [kind]) {
        try await rig.end(of: program, tool.arguments, $0)
      }
    }
    await installation.stop()
    await rig.reader.stop()
  }

  private func notifications(_ rig: Rig) async throws -> [Results.Series] {
    var series: [Results.Series] = []
    for kind in BenchmarkTag.all where kind.isPolledFor {
      var (times, rests): ([Duration], [Duration]) = ([], [])
      for number in 0..<taps {
        let (time, rest) = try await rig.notification(Placement(kind: kind, number: number))
        times.append(time)
        rests.append(rest)
      }
      let labels: KeyValuePairs = ["Tag": kind.name, "Until": "to the call of Notify"]
      series += [.init("from placed", times, labels), .init("from the last byte", rests, labels)]
    }
    return series
  }

  /// A series for each kind. `tap` places a tag, waits for the result, removes the tag, and returns the time.
  private func measure(
    _ end: String, of kinds: [BenchmarkTag] = BenchmarkTag.all, _ tap: (Placement) async throws -> Duration
  ) async throws -> [Results.Series] {
    var series: [Results.Series] = []
    for kind in kinds where kind.isPolledFor {
      var times: [Duration] = []
      for number in 0..<max(taps / 3, 1) { times.append(try await tap(Placement(kind: kind, number: number))) }
      series.append(.init("from placed", times, ["Tag": kind.name, "Until": end]))
    }
    return series
  }

  private struct Placement {
    let kind: BenchmarkTag
    let number: Int

    /// A tag with a message of 37 bytes, and its link.
    func tag(_ link: (Int) -> String = BenchmarkTag.link) throws -> (SimulatedTag, link: String, message: [UInt8]) {
      let link = link(number)
      let message = try NDEFMessage.uri(link).encoded()
      return (try kind.make(message), link, message)
    }
  }

  private struct Rig {
    let clock: MachineClock
    let reader: SimulatedReader
    let installation: Installation
    let server: NotificationServerStandIn

    /// The times from the placement and from the tag's last byte.
    func notification(_ placement: Placement) async throws -> (Duration, Duration) {
      let (tag, link, _) = try placement.tag()
      try await rest()
      let placed = clock.now
      let id = await reader.place(tag)
      let shown = try await server.next()
      let end = clock.now
      guard "\(shown.summary) \(shown.body)".contains(link.suffix(9)) else {
        throw RigError("the notification is for another tag than \(link): \(shown.summary): \(shown.body)")
      }
      // Presence checks may follow it before the call.
      let exchanges = await reader.commands.filter(\.isAnsweredExchange)
      guard let lastByte = exchanges.compactMap(\.end).last(where: { $0 <= end }), lastByte >= placed else {
        throw RigError("the reader has not read \(link)")
      }
      await reader.remove(id)
      return (end - placed, end - lastByte)
    }

    /// Writes the rule, which starts a program without a click. The taps before are those of a user without rules.
    func startRule() async throws -> RuleStarts {
      let program = try BuiltProducts.systemProgram("tee", package: "coreutils")
      let starts = try RuleStarts(installation.directory.file("rule-starts"))
      try installation.directory.write(
        "[Rule bench]\nLink=https://rule.example.com/*\nRun=\(program);\(starts.path);\nAsk=no\n",
        to: "config/tagroute/rules.d/bench.conf")
      guard let agent = await installation.agent else { throw RigError("tagroute-agent does not run") }
      try await agent.line(containing: "rules for taps in force: 1")
      return starts
    }

    func programStart(_ placement: Placement, _ starts: RuleStarts) async throws -> Duration {
      let (tag, link, message) = try placement.tag { "https://rule.example.com/" + BenchmarkTag.link($0).suffix(15) }
      try await rest()
      let placed = SuspendingClock.now
      let id = await reader.place(tag)
      // The call has a time limit. It follows the start if the rule was carried out without a click.
      let shown = try await server.next()
      guard shown.summary == "Started “bench”", let start = await starts.next(), start.message == message else {
        throw RigError("the rule has not got the message of \(link): \(shown.summary): \(shown.body)")
      }
      await reader.remove(id)
      return start.time - placed
    }

    func message(_ placement: Placement, _ program: any ReadingContender) async throws -> Duration {
      let (tag, _, message) = try placement.tag()
      try await rest()
      let placed = clock.now
      let id = await reader.place(tag)
      let isFound = try await reader.detection(since: placed, by: clock) != nil
      let outcome = isFound ? try await program.outcome() : .failure("not found")
      let time = clock.now - placed
      guard outcome == .message(message) else {
        await reader.remove(id)
        throw RigError("\(placement.kind.name), placement \(placement.number): \(outcome)")
      }
      await reader.remove(id)
      try await program.removal()
      return time
    }

    /// The end of the first run in which a program finds the tag and succeeds. A script runs it over and over, because it
    /// does not wait for a tag.
    func end(of program: String, _ arguments: [String], _ placement: Placement) async throws -> Duration {
      var environment = installation.environment
      environment["LIBNFC_DEFAULT_DEVICE"] = await reader.connectionString
      let loop = Task { [environment, reader, clock] in
        while true {
          await reader.resetCounters()
          let result = try await ChildProcess.run(program, arguments, environment: environment)
          let isFound = await reader.commands.contains { $0.foundTargets ?? 0 > 0 }
          if isFound, result.status == .exited(0) { return clock.now }
          try Task.checkCancellation()
        }
      }
      let (tag, _, _) = try placement.tag()
      try await rest()
      let placed = clock.now
      let id = await reader.place(tag)
      let limit = Task {
        try await Task.sleep(for: .seconds(30))
        loop.cancel()
      }
      defer { limit.cancel() }
      let time = try await loop.value - placed
      await reader.remove(id)
      return time
    }

    /// Waits long enough for the removal to be noticed. The random length makes taps meet every phase of polling.
    private func rest() async throws { try await Task.sleep(for: .milliseconds(Int.random(in: 500...900))) }
  }
}

extension Installation {
  /// Installs an app for menu.example.com, and starts a stand-in for a notification server and all programs; without the
  /// simulator, if the caller has the reader. Returns once the reader scans.
  func startWithMenu(simulator: Bool = true) async throws -> NotificationServerStandIn {
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
    if simulator { try await startSimulator() }
    try startDaemon()
    try startAgent()
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
