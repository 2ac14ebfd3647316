/// The device that this process had open last, and the one that may still have its field on.
struct LastDevice {
  /// The device that failed with its field on, until it is open again, which switches the field off, or away: nobody knows whether its
  /// field is off.
  private(set) var leftOn: String?
  /// The device that was open last, until it is away.
  private(set) var opened: String?

  /// What to look for where nothing is found.
  var known: String? { leftOn ?? opened }

  /// The device failed, or could not be set up, and its field may be on.
  mutating func failed(fieldOf connectionString: String?) { leftOn = connectionString ?? leftOn }

  /// The device is open, its field off.
  ///
  /// - Returns: whether this process had another one before, whose tags are not on this one.
  mutating func open(_ connectionString: String) -> Bool {
    let isAnother = known.map { (opened ?? $0) != connectionString } ?? false
    opened = connectionString
    if leftOn == connectionString { leftOn = nil }
    return isAnother
  }

  /// No device is there: what is away has no power.
  mutating func areAway() { self = LastDevice() }
}
