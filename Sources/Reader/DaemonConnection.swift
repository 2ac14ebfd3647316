import Journal
import ReaderLink

/// What the daemon wants, and how it is told what there is.
final class DaemonConnection {
  private var link: DaemonLink
  private var lastBeat: SuspendingClock.Instant?
  private var state: ReaderState?
  /// How long what this thread does may take.
  var timing: ReaderTiming

  /// What is done takes so much longer than its commands usually do.
  private var allowance = Duration.zero

  /// What the daemon wants, and what it knew of the tags then.
  private(set) var epoch: UInt64 = 0
  private(set) var goal = ReaderGoal.off
  private var known: KnownTags?
  /// What is to be done with tags of the reader session that the daemon wants.
  private(set) var requests: ArraySlice<Request> = []
  private(set) var isToRestart = false
  private(set) var isShuttingDown = false
  /// Whether the device has come or gone as far as the daemon knows, until somebody has looked.
  private var isToLookForDevice = false

  /// Something to be done with a tag.
  struct Request {
    let number: UInt64
    let placement: UInt64
    let operation: ReaderOperation
  }

  init(_ link: consuming DaemonLink, _ timing: ReaderTiming) {
    self.link = link
    self.timing = timing
  }

  private func send(_ message: ReaderMessage) throws(Interruption) {
    try onLink { (link) throws(ReaderLinkError) in try link.send(message) }
  }

  func report(_ message: ReaderMessage) throws(Interruption) {
    if case .state(let state) = message {
      guard state != self.state else { return }
      self.state = state
    }
    try send(message)
  }

  /// Says that this thread lives, as often as that is needed.
  func beat() throws(Interruption) {
    if let lastBeat, .now - lastBeat < ReaderTiming.beatInterval { return }
    try promise(min(timing.promise + allowance, ReaderTiming.longestPromise))
  }

  /// From here on a command may take so much longer than usual; the daemon is told before the next one.
  func allow(_ more: Duration) {
    allowance = more
    lastBeat = nil
  }

  /// Says that this thread will be heard of again within `duration`, whatever happens.
  func promise(_ duration: Duration) throws(Interruption) {
    Confinement.putOffAlarm(duration)
    // A long promise is taken back by the next beat: until then nobody could tell that this thread is stuck.
    lastBeat = duration > timing.promise ? nil : .now
    try send(.heartbeat(within: UInt32(clamping: Int64(duration / .milliseconds(1)))))
  }

  /// Says that this thread sleeps until it is told something.
  func promiseNothing() throws(Interruption) {
    lastBeat = nil
    try send(.heartbeat(within: 0))
  }

  /// The device is in other hands for a while: what it is afterwards is news.
  func forgetState() { state = nil }

  /// What the daemon knows of tags, once.
  func takeKnown() -> KnownTags? {
    defer { known = nil }
    return known
  }

  func takeRequest() -> Request? { requests.popFirst() }

  func takeRestart() -> Bool {
    defer { isToRestart = false }
    return isToRestart
  }

  /// The device has failed: nothing is done any more of what was asked for in the reader session.
  func dropRequests() { (requests, isToRestart) = ([], false) }

  func takeLookForDevice() -> Bool {
    defer { isToLookForDevice = false }
    return isToLookForDevice
  }

  /// Sleeps so long, or less where the daemon says something; nil until it does.
  func sleep(_ duration: Duration?) throws(Interruption) {
    for command in try onLink({ (link) throws(ReaderLinkError) in try link.commands(within: duration) }) {
      switch command {
      case .goal(let epoch, let goal, let known):
        self.known = known
        guard epoch != self.epoch || goal != self.goal else { continue }
        if goal.usesField && !self.goal.usesField { isToLookForDevice = true }
        (self.epoch, self.goal) = (epoch, goal)
        dropRequests()
      case .lookForDevice: isToLookForDevice = true
      case .shutDown: isShuttingDown = true
      case .restartPolling(let epoch): isToRestart = isToRestart || epoch == self.epoch
      case .perform(let epoch, let request, let placement, let operation):
        // The daemon has answered what belongs to another goal.
        guard epoch == self.epoch else { continue }
        requests.append(Request(number: request, placement: placement, operation: operation))
      }
    }
  }

  /// Does something on the link.
  private func onLink<Result>(
    _ body: (inout DaemonLink) throws(ReaderLinkError) -> Result
  ) throws(Interruption) -> Result {
    do throws(ReaderLinkError) {
      return try body(&link)
    } catch {
      throw .daemonGone(error)
    }
  }

  /// Sleeps between two things that are done, having said for how long where that is not soon over; less where the daemon
  /// says something.
  func pause(_ duration: Duration) throws(Interruption) {
    if duration > ReaderTiming.shortSleep { try promise(duration + timing.promise) } else { try beat() }
    try sleep(duration)
    try beat()
  }

  /// Whether what is done for the goal of an epoch should be given up. With `yieldsToRequests` the next thing that is
  /// to be done with a tag of a reader session is a reason, too. Does not sleep.
  func isInterrupted(_ epoch: UInt64, yieldsToRequests: Bool = false) throws(Interruption) -> Bool {
    try sleep(.zero)
    if isShuttingDown || epoch != self.epoch { return true }
    return yieldsToRequests && (isToRestart || !requests.isEmpty)
  }
}
