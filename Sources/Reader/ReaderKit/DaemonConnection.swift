import Glibc
import Journal
package import PN53x
package import ReaderProtocol

/// The connection to the daemon. It keeps the latest commands and sends reports and heartbeats.
package final class DaemonConnection {
  private var link: DaemonChannel
  private let now: () -> SuspendingClock.Instant
  private var lastBeat: SuspendingClock.Instant?
  private var state: ReaderDeviceState?
  /// For the operations of this thread.
  package var timing: ReaderTiming

  /// Nil if the daemon does not want a trace.
  package var trace: TraceWriter?

  /// In addition to the usual time of the current commands.
  private var allowance = Duration.zero

  /// The daemon's goal, and the known tags that came with it.
  package private(set) var epoch: UInt64 = 0
  package private(set) var goal = ReaderGoal.off
  private var known: KnownTags?
  /// Of the reader session.
  package private(set) var requests: ArraySlice<Request> = []
  /// Nil if none is due.
  private var restart: TagSessionOptions?
  package private(set) var isShuttingDown = false
  /// Whether this thread should look for the device: it may have been plugged in or unplugged, or a new goal needs it.
  private var isToLookForDevice = false
  private var isToIdentify = false

  package struct Request {
    package let number: UInt64
    package let placement: UInt64
    package let operation: ReaderOperation
  }

  /// `now` decides when a heartbeat is due.
  package init(
    _ link: consuming DaemonChannel, _ timing: ReaderTiming,
    now: @escaping () -> SuspendingClock.Instant = { SuspendingClock.now }
  ) {
    self.link = link
    self.timing = timing
    self.now = now
  }

  private func send(_ message: ReaderMessage) throws(Interruption) {
    try onLink { (link) throws(ReaderLinkError) in try link.send(message.frame) }
  }

  package func report(_ message: ReaderMessage) throws(Interruption) {
    if case .state(let state) = message {
      guard state != self.state else { return }
      self.state = state
    }
    trace?.note(message)
    try send(message)
  }

  package func beat() throws(Interruption) {
    if let lastBeat, now() - lastBeat < ReaderTiming.beatInterval { return }
    try promise(min(timing.promise + allowance, ReaderTiming.longestPromise))
  }

  /// In addition to the usual time of each command. The heartbeat before the next command informs the daemon.
  package func allow(_ more: Duration) {
    allowance = more
    lastBeat = nil
  }

  /// Another heartbeat follows within `duration`.
  package func promise(_ duration: Duration) throws(Interruption) {
    Confinement.putOffAlarm(duration)
    // The next `beat` replaces a long promise, because the daemon cannot detect a stuck thread before the promise ends.
    lastBeat = duration > timing.promise ? nil : now()
    try send(.heartbeat(within: UInt32(clamping: Int64(duration / .milliseconds(1)))))
  }

  /// The thread sleeps until the daemon sends a command.
  package func promiseNothing() throws(Interruption) {
    lastBeat = nil
    try send(.heartbeat(within: 0))
  }

  /// The state after a loan is then always reported.
  package func forgetState() { state = nil }

  /// Once per goal command.
  package func takeKnown() -> KnownTags? {
    defer { known = nil }
    return known
  }

  package func takeRequest() -> Request? { requests.popFirst() }

  package var isToRestart: Bool { restart != nil }

  package func takeRestart() -> TagSessionOptions? {
    defer { restart = nil }
    return restart
  }

  /// The device has failed or the goal has changed.
  package func dropRequests() { (requests, restart) = ([], nil) }

  package func takeLookForDevice() -> Bool {
    defer { isToLookForDevice = false }
    return isToLookForDevice
  }

  package func takeIdentify() -> Bool {
    defer { isToIdentify = false }
    return isToIdentify
  }

  /// Ends early if the daemon sends a command or another thread wakes this one. Nil means without a time limit.
  package func sleep(_ duration: Duration?) throws(Interruption) {
    for command in try onLink({ (link) throws(ReaderLinkError) in try link.commands(within: duration) }) {
      switch command {
      case .goal(let epoch, let goal, let known):
        self.known = known
        guard epoch != self.epoch || goal != self.goal else { continue }
        if goal.usesField && !self.goal.usesField { isToLookForDevice = true }
        (self.epoch, self.goal) = (epoch, goal)
        dropRequests()
      case .lookForDevice: isToLookForDevice = true
      case .identify: isToIdentify = true
      case .shutDown: isShuttingDown = true
      case .restartPolling(let epoch, let options): if epoch == self.epoch { restart = options }
      case .perform(let epoch, let request, let placement, let operation):
        // The daemon itself has already answered requests of another goal.
        guard epoch == self.epoch else { continue }
        requests.append(Request(number: request, placement: placement, operation: operation))
      }
    }
  }

  /// Wraps an error of the link as `Interruption.daemonGone`.
  private func onLink<Result>(
    _ body: (inout DaemonChannel) throws(ReaderLinkError) -> Result
  ) throws(Interruption) -> Result {
    do throws(ReaderLinkError) {
      return try body(&link)
    } catch {
      throw .daemonGone(error)
    }
  }

  /// Ends early if the daemon sends a command. A long sleep is announced to the daemon first.
  package func pause(_ duration: Duration) throws(Interruption) {
    if duration > ReaderTiming.shortSleep { try promise(duration + timing.promise) } else { try beat() }
    try sleep(duration)
    try beat()
  }

  /// Whether the work for the goal of `epoch` should stop. With `yieldsToRequests`, a pending request of the reader
  /// session is also a reason. Does not sleep.
  package func isInterrupted(_ epoch: UInt64, yieldsToRequests: Bool = false) throws(Interruption) -> Bool {
    try sleep(.zero)
    if isShuttingDown || epoch != self.epoch { return true }
    return yieldsToRequests && (isToRestart || !requests.isEmpty)
  }
}

/// The reader process's end of a link. Reads and writes block. The thread that makes the process's decisions reads it
/// between its other work.
package struct DaemonChannel: ~Copyable {
  private let descriptor: Int32
  private let end: Int32
  private let wakes: [Int32]
  private var decoder = FrameDecoder()
  /// Per read. A command that writes an NDEF message is long.
  private static let mostAtOnce = 32 * 1024

  /// `descriptor` is a connected stream socket that stays open while the process lives. `end` becomes readable when the
  /// process should exit, as if the daemon had sent `shutDown`; -1 for none. While one of `wakes` is readable,
  /// `commands` does not wait, because the process has other news. The caller reads these descriptors.
  package init(descriptor: Int32, end: Int32 = -1, wakes: [Int32] = []) {
    self.descriptor = descriptor
    self.end = end
    self.wakes = wakes
  }

  /// Blocks until the socket has room. Fails if the daemon is gone.
  package func send(_ frame: [UInt8]) throws(ReaderLinkError) {
    var rest = frame[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw ReaderLinkError("the end of the link") }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for the first command, and returns all that have arrived, in order. A timeout of zero does not wait, nil
  /// waits forever. The result is empty if no command arrived in time, or if one of `wakes` is readable. Once the
  /// process should exit, each call returns only `shutDown`.
  ///
  /// Fails if the daemon is gone or does not speak this protocol.
  package mutating func commands(within timeout: Duration?) throws(ReaderLinkError) -> [ReaderCommand] {
    let readable = try wait(timeout)
    if readable.end { return [.shutDown] }
    guard readable.link else { return [] }
    var bytes = [UInt8](repeating: 0, count: Self.mostAtOnce)
    let count = read(descriptor, &bytes, bytes.count)
    if count < 0 && errno == EINTR { return [] }
    guard count > 0 else { throw ReaderLinkError("the end of the link") }
    decoder.append(bytes.prefix(count))
    var commands: [ReaderCommand] = []
    while let payload = try decoder.next() { commands.append(try ReaderCommand(payload: payload)) }
    return commands
  }

  /// Waits until the link, `end` or one of `wakes` is readable. Zero does not wait, nil waits forever.
  private func wait(_ timeout: Duration?) throws(ReaderLinkError) -> (link: Bool, end: Bool) {
    // poll(2) ignores a negative descriptor.
    var entries = ([descriptor, end] + wakes).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let milliseconds = timeout.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    let count = poll(&entries, nfds_t(entries.count), milliseconds)
    guard count >= 0 || errno == EINTR else { throw ReaderLinkError("a descriptor that is no link") }
    // If a signal interrupted the wait, the caller calls again.
    guard count > 0 else { return (false, false) }
    return (entries[0].revents != 0, entries[1].revents != 0)
  }
}

/// An error that stops the current step of the thread with the link.
package enum Interruption: Error {
  case daemonGone(ReaderLinkError)
  case deviceLost(ChipFailure)
}
