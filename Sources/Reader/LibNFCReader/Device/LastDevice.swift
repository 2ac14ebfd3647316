/// The device that this process opened last, and the one that may still have its field on.
struct LastDevice {
  /// The device that failed with its field on. Its field may still be on until the device is opened again, which
  /// switches it off, or unplugged.
  private(set) var leftOn: String?
  /// The device that was opened last, until it is unplugged.
  private(set) var opened: String?

  /// The device to try if libnfc finds none.
  var known: String? { leftOn ?? opened }

  /// Records a device that failed, or could not be set up, and may have its field on.
  mutating func failed(fieldOf connectionString: String?) { leftOn = connectionString ?? leftOn }

  /// Records that the device is open with its field off. Returns whether this process had a different device before.
  /// The tags of that one are not on this one.
  mutating func open(_ connectionString: String) -> Bool {
    let isAnother = known.map { (opened ?? $0) != connectionString } ?? false
    opened = connectionString
    if leftOn == connectionString { leftOn = nil }
    return isAnother
  }

  /// Records that no device is there: an unplugged device has no power.
  mutating func areAway() { self = LastDevice() }
}
