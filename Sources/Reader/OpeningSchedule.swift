/// When a device that is away or has failed is tried again.
///
/// At once the first time, since a command that went wrong on the wire should cost nobody anything; then ever more rarely, and
/// never so rarely that a person who plugs it in would notice. Where nobody wants tags looked for it is given up after a few
/// tries: waiting costs nothing, until somebody says that something was plugged in.
struct OpeningSchedule {
  typealias Instant = SuspendingClock.Instant

  enum Step: Equatable {
    case open
    case wait(Duration)
    /// Until the daemon says something.
    case sleep
  }

  static let pauses: [Duration] = [0, 100, 200, 400, 800, 1500].map { .milliseconds($0) }
  /// A device that worked this long is opened again at once; one that did not waits.
  static let provenAfter = Duration.seconds(3)

  /// Whether somebody tells when the device is plugged in; else it has to be looked for for ever.
  let isTold: Bool
  private var failures = 0
  private var next: Instant?

  init(isTold: Bool) { self.isTold = isTold }

  /// Whether it was tried often enough in a row to take it for gone.
  var hasFailedForLong: Bool { failures >= Self.pauses.count }

  func step(wantsScanning: Bool, at now: Instant) -> Step {
    guard let next else { return .open }
    if isTold && !wantsScanning && failures >= Self.pauses.count { return .sleep }
    return now < next ? .wait(now.duration(to: next)) : .open
  }

  /// It could not be opened.
  mutating func failed(at now: Instant) {
    next = now + Self.pauses[min(failures, Self.pauses.count - 1)]
    failures += 1
  }

  /// It was open and failed.
  mutating func lost(openedAt opened: Instant, at now: Instant) {
    if opened.duration(to: now) >= Self.provenAfter { failures = 0 }
    failed(at: now)
  }

  /// Something was plugged in, or tags are wanted now that were not.
  mutating func hurry() {
    failures = 0
    next = nil
  }
}
