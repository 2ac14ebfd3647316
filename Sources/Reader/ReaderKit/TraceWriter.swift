import EventLoop
import Glibc
package import Names
import ReaderProtocol

/// Records what passes between this process and its reader, if the daemon asks for a trace (docs/traces.md).
///
/// Any thread may use it. It never waits: a line for which there is no room is left out, and the next line says how many
/// are missing.
package final class TraceWriter: Sendable {
  private struct State {
    var lost = 0
    /// Whether a client decides what is sent to the tag. `tagroute report` leaves the bytes of such exchanges out.
    var isInSession = false
  }

  private let descriptor: Int32
  private let start = SuspendingClock.now
  private let state = Locked(State())

  /// `descriptor` is a socket that keeps the borders of messages, and stays open while the process lives. `library` is
  /// the version of what the program stands on. Writes the first line.
  package init(descriptor: Int32, program: String, library: String) {
    self.descriptor = descriptor
    _ = send(TraceLine(.header(program: "\(program) \(Names.version)", library: library)))
  }

  /// Whether the exchanges that begin now are a client's. Ask when an exchange is ordered: its session may be over when it
  /// ends.
  package var isInSession: Bool {
    get { state.withLock { $0.isInSession } }
    set { state.withLock { $0.isInSession = newValue } }
  }

  package func write(_ event: TraceLine.Event) {
    let time = start.duration(to: .now) / .seconds(1)
    state.withLock { state in
      if state.lost > 0 {
        guard send(TraceLine(.lost(state.lost), at: time)) else {
          state.lost += 1
          return
        }
        state.lost = 0
      }
      if !send(TraceLine(event, at: time)) { state.lost += 1 }
    }
  }

  /// An exchange that began at `start` and has just ended.
  package func write(_ exchange: TraceLine.Exchange, since start: SuspendingClock.Instant) {
    var exchange = exchange
    exchange.milliseconds = start.duration(to: .now) / .milliseconds(1)
    write(.exchange(exchange))
  }

  /// What the daemon is told about tags.
  func note(_ message: ReaderMessage) {
    switch message {
    case .tag(_, let report):
      var tap = TraceLine.Tap(
        type: report.placement.technology.rawValue, uid: report.placement.uid, message: nil, problem: nil)
      switch report.content {
      case .message(let bytes): tap.message = bytes
      case .bare(let reason), .damaged(let reason, _), .problem(let reason): tap.problem = reason
      }
      write(.tap(tap))
    case .removed: write(.removed)
    default: break
    }
  }

  private func send(_ line: TraceLine) -> Bool {
    let bytes = line.bytes + [UInt8(ascii: "\n")]
    // A reader of the trace that is gone is noticed by the daemon.
    return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == bytes.count
  }
}
