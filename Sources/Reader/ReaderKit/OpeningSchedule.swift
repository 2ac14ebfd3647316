/// When to retry a device that is absent or has failed.
///
/// The first retry is immediate, because a single transmission error should not cause a delay. Later retries become
/// rarer. The longest pause depends on whether udev follows the device. If it does, the daemon reports when the device
/// is plugged in or released by a driver, and this process need not poll for that. If it does not, retries stay
/// frequent enough that a user does not have to wait after plugging the device in.
package struct OpeningSchedule {
  package typealias Instant = SuspendingClock.Instant

  package enum Step: Equatable {
    case open
    case wait(Duration)
    /// Sleep until the daemon sends a command.
    case sleep
  }

  /// The first pauses. Each further pause is twice the previous one, up to the longest.
  package static let pauses: [Duration] = [0, 100, 200, 400, 800, 1500].map { .milliseconds($0) }
  /// The longest pause if udev follows the device. Retries are still needed, because udev does not report new
  /// permissions or a chip that has recovered.
  package static let longestFollowed = Duration.seconds(30)
  /// The longest pause if udev does not follow the device, while tags are wanted.
  package static let longestAlone = Duration.seconds(3)
  /// The same while no tags are wanted.
  package static let longestUnwanted = Duration.seconds(30)
  /// The pauses for a reader if libnfc resets its USB port each time. Such a reader comes back slowly or never
  /// (libnfc#614), and the kernel must not have to reset a port without end.
  package static let pausesAfterReset: [Duration] = [0, 1, 2, 5, 10, 30].map { .seconds($0) }
  /// The shortest time between two resets of a port, no matter how often the daemon reports that a device was plugged
  /// in.
  package static let resetInterval = Duration.seconds(1)
  /// A device that worked this long is opened again at once. Any other device has to wait.
  package static let provenAfter = Duration.seconds(3)

  /// By udev.
  package let isFollowed: Bool
  private var failures = 0
  private var failedAt: Instant?
  /// At the last attempt.
  private var isAbsent = false
  /// When the last attempt reset the port; nil if it did not.
  private var lastReset: Instant?

  package init(isFollowed: Bool) { self.isFollowed = isFollowed }

  /// Whether libnfc resets the port of a device when it opens it (USBDEVFS_RESET; acr122_usb_open in libnfc 1.8.0).
  package static func resetsPort(of device: String) -> Bool { device.prefix { $0 != ":" } == "acr122_usb" }

  /// Whether enough attempts in a row have failed to assume that the device stays unavailable.
  package var hasFailedForLong: Bool { failures >= Self.pauses.count }

  /// `isFieldInDoubt`: the device failed with its field on. Only opening the device switches the field off.
  package func step(wantsScanning: Bool, isFieldInDoubt: Bool = false, at now: Instant) -> Step {
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

  /// `device` could not be opened; nil if there was none to open. `isAbsent`: the device is absent, rather than present
  /// but not working.
  package mutating func failed(_ device: String?, isAbsent: Bool = false, at now: Instant) {
    self.isAbsent = isAbsent
    failedAt = now
    lastReset = device.map(Self.resetsPort) == true ? now : nil
    failures += 1
  }

  /// The open device failed.
  package mutating func lost(_ device: String?, openedAt opened: Instant, at now: Instant) {
    if opened.duration(to: now) >= Self.provenAfter { failures = 0 }
    failed(device, at: now)
  }

  /// If retries have not helped. A reader that a port reset does not restart has to lose its power.
  package func advice(on device: String) -> String {
    guard hasFailedForLong && Self.resetsPort(of: device) else { return "" }
    return "; if no other program uses it, unplug it and plug it in again"
  }

  /// A device was plugged in or released, or tags are wanted now.
  package mutating func retryAtOnce() {
    failures = 0
    failedAt = nil
  }
}
