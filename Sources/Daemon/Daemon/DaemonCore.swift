import Bus
import EventLoop
import Journal

/// What the parts of the daemon share: the state with all decisions, the system bus and the log.
@DaemonLoop final class DaemonCore {
  var state: DaemonState
  /// Nil until the daemon has opened it.
  var connection: Connection?
  let log: Log
  let directories = SystemDirectories()
  /// Whether the daemon was asked to end, or cannot continue.
  var isEnding = false
  var isStopped = false
  var carryOut: (DaemonState.Action) -> Void = { _ in }
  /// Publishes the changes to clients and to systemd.
  var publish: () -> Void = {}
  private var deadlineTimer: LoopTimer?

  init(_ state: DaemonState, _ log: Log) { (self.state, self.log) = (state, log) }

  /// Carries out the actions that follow from the event.
  func handle(_ event: DaemonState.Event) {
    apply(state.handle(event, at: .now))
  }

  /// In order. Then publishes the changes.
  func apply(_ actions: [DaemonState.Action]) {
    for action in actions { carryOut(action) }
    publish()
    scheduleDeadline()
  }

  private func scheduleDeadline() {
    deadlineTimer?.cancel()
    deadlineTimer = nil
    guard !isStopped, let deadline = state.deadline else { return }
    deadlineTimer = DaemonLoop.schedule(after: SuspendingClock.now.duration(to: deadline)) { [weak self] in
      self?.handle(.tick)
    }
  }

  /// Within the user's limit.
  func log(_ level: LogLevel, ofUser uid: UInt32, _ text: String) {
    for case .log(let level, let line) in state.agents.note(level, ofUser: uid, at: .now, text) { log(level, line) }
  }
}
