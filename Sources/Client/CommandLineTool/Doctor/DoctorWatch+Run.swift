import Bus
import Doctor
import EventLoop
import Glibc
import Names
import TagrouteClient

extension DoctorWatch {
  /// Something to look at: the daemon changed, or a tag was tapped.
  private struct Pending: Sendable {
    var isChanged = true
    /// The ids of taps.
    var taps: [String] = []
    var isInterrupted = false
  }

  /// How long to wait for a fix that no signal reports, such as an installed package.
  private static let patience = Duration.seconds(2)

  /// Examines after each change, and prints the lines until the watch ends. Returns the exit code.
  static func run(_ console: Console) async throws(Failure) -> Int32 {
    let loop = EventLoop(label: "tagroute")
    let start = SystemClock.now
    let pending = Locked(Pending())
    let (wakeUps, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    @Sendable func note(_ change: (inout Pending) -> Void) {
      pending.withLock { change(&$0) }
      continuation.yield()
    }
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP])
    var tasks = [Task { for await _ in signals { note { $0.isInterrupted = true } } }]
    defer { for task in tasks { task.cancel() } }
    // If there is no bus, the first examination says so, and the watch ends.
    let daemon = try? await DaemonClient.connect(on: loop)
    // Its connection ends with it, and then the daemon's changes.
    defer { withExtendedLifetime(daemon) {} }
    if let changes = try? await daemon?.changes() {
      tasks.append(Task { for await _ in changes { note { $0.isChanged = true } } })
    }
    let agent = try? await AgentClient.connect(on: loop)
    if let events = try? await agent?.events() {
      tasks.append(
        Task {
          for await event in events { if let id = event.tap { note { $0.taps.append(id) } } }
        })
    }

    var watch = DoctorWatch()
    // A tap without a notification is received and closed at once.
    var shown: Set<String> = []
    var timer: LoopTimer?
    defer { timer?.cancel() }
    note { _ in }
    for await _ in wakeUps {
      let now = pending.withLock { pending in
        defer { pending = Pending(isChanged: false) }
        return pending
      }
      timer?.cancel()
      // An examination before each tap: the bus of the session may be faster than that of the system.
      if now.isChanged || !now.taps.isEmpty {
        try show(watch.handle(.examined(await Examination.make(on: loop))), console)
      }
      for id in now.taps where shown.insert(id).inserted {
        // A tap of an earlier time may end now.
        guard let tap = try? await agent?.taps(id: id).first, tap.time >= start else { continue }
        let apps = await KnownApps.of(agent)
        try show(watch.handle(.tapped(Tap(tap, name: apps.name))), console)
      }
      if now.isInterrupted { try show(watch.handle(.interrupted), console) }
      if case .ended(let exitCode) = watch.state { return exitCode }
      if watch.needsAnotherLook { timer = loop.schedule(after: patience) { note { $0.isChanged = true } } }
    }
    return Names.ExitCode.failure
  }

  private static func show(_ lines: [String], _ console: Console) throws(Failure) {
    guard !lines.isEmpty else { return }
    let verdicts = Finding.Verdict.allCases.map { ($0.rawValue, $0.colour) } + [(ready, Colour.green)]
    try console.answer([String](), lines, verdicts: verdicts)
  }
}

extension AgentClient.Event {
  /// The id of a tap that was read or has ended. A tap without a notification ends at once.
  fileprivate var tap: String? {
    switch self {
    case .received(let id), .closed(let id, _): id
    case .appeared, .disappeared, .removed, .cleared, .outgoingAvailable: nil
    }
  }
}
