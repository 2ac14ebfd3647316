import Glibc
import ReaderKit
import ReaderProtocol

/// Decides which device to open, or why none can be opened.
struct DeviceSearch {
  struct Obstacle: Error {
    let state: ReaderDeviceState
  }

  /// A connection string; nil takes the first device that libnfc finds.
  let configured: String?
  /// The connection string of the device that was open before, or that may have its field on.
  var known: String?

  func candidate(_ context: OpaquePointer) -> Result<String, Obstacle> {
    candidate { NFCDevice.list(context) }
  }

  func candidate(listing: () -> [String]) -> Result<String, Obstacle> {
    if let configured { return Self.check(configured) }
    if let first = listing().first { return .success(first) }
    // On a line, such as a serial port, libnfc lists only devices that answer. The known one may be there without
    // answering.
    if let known, ConnectionString.path(of: known) != nil, case .success = Self.check(known) { return .success(known) }
    return .failure(Obstacle(state: .absent(reason: "libnfc finds no reader")))
  }

  private static func check(_ configured: String) -> Result<String, Obstacle> {
    let driver = configured.prefix { $0 != ":" }
    guard driver != "pcsc" && driver != "acr122_pcsc" else {
      let why = "the driver \(driver) needs pcscd, which a reader process may not use"
      let remedy = "stop pcscd and configure another driver, such as acr122_usb"
      return .failure(Obstacle(state: .failed(reason: "\(why); \(remedy)")))
    }
    // Check the file first, because libnfc reports only that opening failed.
    guard let path = ConnectionString.path(of: configured) else { return .success(configured) }
    guard access(path, F_OK) == 0 else {
      return .failure(Obstacle(state: .absent(reason: "\(path) does not exist")))
    }
    guard access(path, R_OK | W_OK) == 0 else {
      let words = String(cString: strerror(errno))
      return .failure(
        Obstacle(
          state: .failed(reason: "\(path): \(words); add tagrouted's user to the group of this file")))
    }
    return .success(configured)
  }
}

/// The device that this process opened last, and the one that may still have its field on.
struct LastDevice {
  /// The device that failed with its field on. Its field may still be on until the device is opened again, which
  /// switches it off, or unplugged.
  private(set) var leftOn: String?
  /// Until it is unplugged.
  private(set) var opened: String?
  /// Whether a serial line keeps the chip's initial rate until it is unplugged, because it has failed at a higher one.
  private(set) var keepsRate = false
  /// Whether the chip may be at a rate at which it does not answer.
  private(set) var isRateInDoubt = false
  /// How often the line has failed soon after it was opened, without working for a while in between.
  private var earlyLosses = 0
  /// The reported rate of a serial line, in bits per second.
  var rate: Int?

  /// To try if libnfc finds none.
  var known: String? { leftOn ?? opened }

  /// The device failed, or could not be set up, and may have its field on.
  mutating func failed(fieldOf connectionString: String?) { leftOn = connectionString ?? leftOn }

  /// The device is open with its field off. Returns whether this process had a different device before. The tags of
  /// that one are not on this one.
  mutating func open(_ connectionString: String) -> Bool {
    let isAnother = known.map { (opened ?? $0) != connectionString } ?? false
    opened = connectionString
    isRateInDoubt = false
    if leftOn == connectionString { leftOn = nil }
    return isAnother
  }

  /// The device could not be opened.
  mutating func failed(isRateInDoubt: Bool) {
    guard isRateInDoubt else { return }
    (keepsRate, self.isRateInDoubt) = (true, true)
  }

  /// The chip has refused every higher rate, or does not work at one.
  mutating func keepRate() { keepsRate = true }

  /// The device has failed. A chip may also lose its power in a suspension soon after the opening, so the rate is blamed
  /// only for the second failure.
  mutating func lost(after time: Duration) {
    earlyLosses = time < Self.provesRate ? earlyLosses + 1 : 0
    if earlyLosses > 1 { keepsRate = true }
  }

  private static let provesRate = Duration.seconds(60)

  /// An unplugged device has no power.
  mutating func areAway() { self = LastDevice() }
}
