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
  /// For a reader whose port libnfc resets each time: it comes back slowly, some never do (libnfc#614), and nobody should make the
  /// kernel reset a port without end.
  static let pausesAfterReset: [Duration] = [0, 1, 2, 5, 10, 30].map { .seconds($0) }
  /// However often somebody says that something was plugged in, no port is reset more often.
  static let resetInterval = Duration.seconds(1)
  /// A device that worked this long is opened again at once; one that did not waits.
  static let provenAfter = Duration.seconds(3)

  /// Whether somebody tells when the device is plugged in; else it has to be looked for for ever.
  let isTold: Bool
  private var failures = 0
  private var next: Instant?
  /// When a port was reset last.
  private var lastReset: Instant?

  init(isTold: Bool) { self.isTold = isTold }

  /// Whether libnfc resets the port of a device when it opens it (USBDEVFS_RESET; acr122_usb_open in libnfc 1.8.0).
  static func resetsPort(of device: String) -> Bool { device.prefix { $0 != ":" } == "acr122_usb" }

  /// Whether it was tried often enough in a row to take it for gone.
  var hasFailedForLong: Bool { failures >= Self.pauses.count }

  func step(wantsScanning: Bool, at now: Instant) -> Step {
    guard let next else { return .open }
    if isTold && !wantsScanning && failures >= Self.pauses.count { return .sleep }
    return now < next ? .wait(now.duration(to: next)) : .open
  }

  /// It could not be opened.
  ///
  /// - Parameters:
  ///   - device: what libnfc tried to open; nil where there was nothing to open.
  ///   - now: the time.
  mutating func failed(_ device: String?, at now: Instant) {
    let isReset = device.map(Self.resetsPort) == true
    lastReset = isReset ? now : nil
    let pauses = isReset ? Self.pausesAfterReset : Self.pauses
    next = now + pauses[min(failures, pauses.count - 1)]
    failures += 1
  }

  /// It was open and failed.
  mutating func lost(_ device: String?, openedAt opened: Instant, at now: Instant) {
    if opened.duration(to: now) >= Self.provenAfter { failures = 0 }
    failed(device, at: now)
  }

  /// What a person can do where trying again has not helped: only its power makes a reader begin anew that resetting its port does not.
  func advice(on device: String) -> String {
    hasFailedForLong && Self.resetsPort(of: device) ? "; if it is free, unplug it and plug it in again" : ""
  }

  /// Something was plugged in, or tags are wanted now that were not.
  mutating func hurry() {
    failures = 0
    next = lastReset.map { $0 + Self.resetInterval }
  }
}
