/// When a device that is away or has failed is tried again.
///
/// At once the first time, since a command that went wrong on the wire should cost nobody anything; then ever more rarely. How
/// rarely in the end depends on whether udev follows the device, so that the daemon tells when it is plugged in or when a
/// driver lets go of it: one that is followed is not asked for what will be told, and one that is not is tried so often that
/// a person who plugs it in need not wait for it.
struct OpeningSchedule {
  typealias Instant = SuspendingClock.Instant

  enum Step: Equatable {
    case open
    case wait(Duration)
    /// Until the daemon says something.
    case sleep
  }

  /// The first pauses; each further one is twice the one before it, up to the longest.
  static let pauses: [Duration] = [0, 100, 200, 400, 800, 1500].map { .milliseconds($0) }
  /// The longest pause where udev tells: what it does not see, permissions that are given or a chip that comes to its senses, has to
  /// be found out.
  static let longestFollowed = Duration.seconds(30)
  /// The longest pause where nobody tells, while tags are wanted.
  static let longestAlone = Duration.seconds(3)
  /// The same while nobody wants tags.
  static let longestUnwanted = Duration.seconds(30)
  /// For a reader whose port libnfc resets each time: it comes back slowly, some never do (libnfc#614), and nobody should make the
  /// kernel reset a port without end.
  static let pausesAfterReset: [Duration] = [0, 1, 2, 5, 10, 30].map { .seconds($0) }
  /// However often somebody says that something was plugged in, no port is reset more often.
  static let resetInterval = Duration.seconds(1)
  /// A device that worked this long is opened again at once; one that did not waits.
  static let provenAfter = Duration.seconds(3)

  /// Whether udev follows the device.
  let isFollowed: Bool
  private var failures = 0
  private var failedAt: Instant?
  /// Whether it was not there at all when it was tried last.
  private var isAbsent = false
  /// When its port was reset, if it was when it was tried last.
  private var lastReset: Instant?

  init(isFollowed: Bool) { self.isFollowed = isFollowed }

  /// Whether libnfc resets the port of a device when it opens it (USBDEVFS_RESET; acr122_usb_open in libnfc 1.8.0).
  static func resetsPort(of device: String) -> Bool { device.prefix { $0 != ":" } == "acr122_usb" }

  /// Whether it was tried often enough in a row to take it for gone.
  var hasFailedForLong: Bool { failures >= Self.pauses.count }

  /// What to do now.
  ///
  /// - Parameters:
  ///   - wantsScanning: whether tags are to be looked for.
  ///   - isFieldInDoubt: it failed with its field on, which only opening it switches off.
  ///   - now: the time.
  /// - Returns: the step.
  func step(wantsScanning: Bool, isFieldInDoubt: Bool = false, at now: Instant) -> Step {
    if failedAt != nil, isFollowed, hasFailedForLong, isAbsent || !(wantsScanning || isFieldInDoubt) { return .sleep }
    let next = failedAt.map { $0 + pause(wantsScanning: wantsScanning) } ?? lastReset.map { $0 + Self.resetInterval }
    guard let next, now < next else { return .open }
    return .wait(now.duration(to: next))
  }

  private func pause(wantsScanning: Bool) -> Duration {
    let pauses = lastReset == nil ? Self.pauses : Self.pausesAfterReset
    let index = max(failures - 1, 0)
    guard index >= pauses.count, let last = pauses.last else { return pauses[index] }
    let longest = isFollowed ? Self.longestFollowed : wantsScanning ? Self.longestAlone : Self.longestUnwanted
    return max(last, min(longest, last * (1 << min(index - pauses.count + 1, 8))))
  }

  /// It could not be opened.
  ///
  /// - Parameters:
  ///   - device: what libnfc tried to open; nil where there was nothing that it could open.
  ///   - isAbsent: it is not there; else it is and does not work.
  ///   - now: the time.
  mutating func failed(_ device: String?, isAbsent: Bool = false, at now: Instant) {
    self.isAbsent = isAbsent
    failedAt = now
    lastReset = device.map(Self.resetsPort) == true ? now : nil
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

  /// Something was plugged in or let go, or tags are wanted now that were not.
  mutating func hurry() {
    failures = 0
    failedAt = nil
  }
}
