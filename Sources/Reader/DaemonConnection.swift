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

  private(set) var wantsScanning = false
  /// Orders to look for no tags, until what they meant has been done and each is answered: one that is taken back at once counts all the
  /// same, for whoever is at the machine afterwards may be somebody else.
  private(set) var stops = 0
  /// Sessions, and whether the device is lent.
  var orders = SessionOrders()
  private(set) var isShuttingDown = false
  /// Whether the device has come or gone as far as the daemon knows, until somebody has looked.
  private var isToLookForDevice = false
  /// What the daemon wants looked for from here on, until somebody takes it.
  private var polling: ReaderPolling?
  /// Tags that the daemon wants left alone, until somebody takes them.
  private var avoided: [AvoidedTag] = []

  init(_ link: consuming DaemonLink, _ timing: ReaderTiming) {
    self.link = link
    self.timing = timing
  }

  func report(_ message: ReaderMessage) throws(ReaderLinkError) {
    if case .state(let state) = message {
      guard state != self.state else { return }
      self.state = state
    }
    try link.send(message)
  }

  /// Says that this thread lives, as often as that is needed.
  func beat() throws(ReaderLinkError) {
    if let lastBeat, .now - lastBeat < ReaderTiming.beatInterval { return }
    try promise(min(timing.promise + allowance, ReaderTiming.longestPromise))
  }

  /// From here on a command may take so much longer than usual; the daemon is told before the next one.
  func allow(_ more: Duration) {
    allowance = more
    lastBeat = nil
  }

  /// Says that this thread will be heard of again within `duration`, whatever happens.
  func promise(_ duration: Duration) throws(ReaderLinkError) {
    Confinement.putOffAlarm(duration)
    // A long promise is taken back by the next beat: until then nobody could tell that this thread is stuck.
    lastBeat = duration > timing.promise ? nil : .now
    try link.send(.heartbeat(within: UInt32(clamping: Int64(duration / .milliseconds(1)))))
  }

  /// Says that this thread sleeps until it is told something.
  func promiseNothing() throws(ReaderLinkError) {
    lastBeat = nil
    try link.send(.heartbeat(within: 0))
  }

  /// The device is in other hands for a while: what it is afterwards is news.
  func forgetState() { state = nil }

  func takeAvoided() -> [AvoidedTag] {
    defer { avoided = [] }
    return avoided
  }

  func takePolling() -> ReaderPolling? {
    defer { polling = nil }
    return polling
  }

  /// Says that what was read before each order to stop has been said.
  func answerStops() throws(ReaderLinkError) {
    while stops > 0 {
      stops -= 1
      try link.send(.stopped)
    }
  }

  func takeLookForDevice() -> Bool {
    defer { isToLookForDevice = false }
    return isToLookForDevice
  }

  /// Sleeps so long, or less where the daemon says something; nil until it does.
  func sleep(_ duration: Duration?) throws(ReaderLinkError) {
    for command in try link.commands(within: duration) {
      switch command {
      case .scan(let on):
        if on && !wantsScanning { isToLookForDevice = true }
        wantsScanning = on
        if !on { stops += 1 }
      case .lookForDevice: isToLookForDevice = true
      case .avoid(let tag): avoided.append(tag)
      case .configure(let polling): self.polling = polling
      case .shutDown: isShuttingDown = true
      case .beginSession, .endSession, .restartPolling, .perform, .lend: orders.take(command)
      }
    }
  }

  /// Sleeps between two things that are done, having said for how long where that is not soon over; less where the daemon
  /// says something.
  func pause(_ duration: Duration) throws(ReaderLinkError) {
    if duration > ReaderTiming.shortSleep { try promise(duration + timing.promise) } else { try beat() }
    try sleep(duration)
    try beat()
  }

  /// Whether looking for tags to announce should be given up. Does not sleep.
  func isInterrupted() throws(ReaderLinkError) -> Bool {
    try sleep(.zero)
    return isShuttingDown || !wantsScanning || stops > 0 || orders.areThere
  }

  /// Whether looking for tags of a session should be given up, for something else or for the next thing that is to be done with one.
  /// Does not sleep.
  func isInterrupted(session: UInt64) throws(ReaderLinkError) -> Bool {
    if try isOver(session: session) { return true }
    return orders.isToRestart || !orders.requests.isEmpty
  }

  /// Whether a session is over. Does not sleep.
  func isOver(session: UInt64) throws(ReaderLinkError) -> Bool {
    try sleep(.zero)
    return isShuttingDown || orders.session?.number != session || orders.wantsLoan
  }
}
