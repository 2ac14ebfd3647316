import Journal
import ReaderLink

/// What the daemon wants, and how it is told what there is.
final class DaemonConnection {
  private var link: DaemonLink
  private var lastBeat: SuspendingClock.Instant?
  private var state: ReaderState?
  /// How long what this thread does may take.
  var timing: ReaderTiming

  private(set) var wantsScanning = false
  private(set) var isShuttingDown = false
  /// Whether the device has come or gone as far as the daemon knows, until somebody has looked.
  private var isToLookForDevice = false
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
    try promise(timing.promise)
  }

  /// Says that this thread will be heard of again within `duration`, whatever happens.
  func promise(_ duration: Duration) throws(ReaderLinkError) {
    // A long promise is taken back by the next beat: until then nobody could tell that this thread is stuck.
    lastBeat = duration > timing.promise ? nil : .now
    try link.send(.heartbeat(within: UInt32(clamping: Int64(duration / .milliseconds(1)))))
  }

  /// Says that this thread sleeps until it is told something.
  func promiseNothing() throws(ReaderLinkError) {
    lastBeat = nil
    try link.send(.heartbeat(within: 0))
  }

  func takeAvoided() -> [AvoidedTag] {
    defer { avoided = [] }
    return avoided
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
      case .lookForDevice: isToLookForDevice = true
      case .avoid(let tag): avoided.append(tag)
      case .shutDown: isShuttingDown = true
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

  /// Whether what is being done should be given up. Does not sleep.
  func isInterrupted() throws(ReaderLinkError) -> Bool {
    try sleep(.zero)
    return isShuttingDown || !wantsScanning
  }
}
