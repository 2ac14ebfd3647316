/// The daemon's public status: whether it scans, and if not, why.
public struct DaemonStatus: Sendable, Hashable {
  /// The daemon's version, `major.minor.patch`.
  public var version: String
  /// The version of its interfaces; 0 for a daemon from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// The main switch of background scanning.
  public var enabled: Bool
  /// Whether at least one reader is polling for tags now.
  public var scanning: Bool
  /// Why no reader is polling, with the names of `org.tagroute.Tagroute1.SuspendReasons`; empty while one is.
  public var suspendReasons: [String]
  /// The readers, in the order in which they were found.
  public var readers: [ReaderStatus]
  /// The error in the latest configuration; empty if there is none. With an error, the previous one stays in force.
  public var configurationError = ""
  /// When the configuration in force was read, in microseconds since 1970; nil if the daemon does not report it.
  public var configurationTime: UInt64?
  /// The user whose agent gets the taps while no other user is at the machine; empty if the machine is not a station.
  public var stationUser = ""
  /// Whether the agent of `stationUser` gets the taps now.
  public var stationActive = false
}

/// The daemon's public status of a reader.
public struct ReaderStatus: Sendable, Hashable {
  /// The object path.
  public var path: String
  /// libnfc's name for the device; empty until the device has been opened once.
  public var name: String
  /// The libnfc connection string.
  public var device: String
  /// The seat of the reader.
  public var seat: String
  /// `absent`, `ready`, `scanning`, `in-session`, `released` or `failed`. Later versions may add values.
  public var state: String
  /// For a person: why it is `absent` or `failed`, and what to do. Empty otherwise.
  public var stateReason: String
}
