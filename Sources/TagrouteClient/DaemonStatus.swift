/// What the daemon tells everybody: whether it scans, and if not, why.
public struct DaemonStatus: Sendable, Hashable {
  /// The daemon's version, `major.minor.patch`.
  public var version: String
  /// The version of the interfaces that it speaks; 0 where it does not say, as one from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// The master switch of background scanning.
  public var enabled: Bool
  /// Whether at least one reader looks for tags now.
  public var scanning: Bool
  /// Why none does, by the names of `org.tagroute.Tagroute1.SuspendReasons`; empty while one does.
  public var suspendReasons: [String]
  /// The readers, in the order in which they were found.
  public var readers: [ReaderStatus]
  /// What is wrong with the configuration as it was read last, for which the former one stays in force; empty where nothing is.
  public var configurationError = ""
  /// When the configuration that is in force was read, in microseconds since 1970; nil where the daemon does not say.
  public var configurationTime: UInt64?
}

/// What the daemon tells everybody of one reader.
public struct ReaderStatus: Sendable, Hashable {
  /// The object path.
  public var path: String
  /// What libnfc calls the device; empty as long as it has never been opened.
  public var name: String
  /// The libnfc connection string.
  public var device: String
  /// The seat the reader belongs to.
  public var seat: String
  /// `absent`, `ready`, `scanning`, `in-session`, `released` or `failed`; others may come.
  public var state: String
  /// Why it is `absent` or `failed` and what to do, in words; empty otherwise.
  public var stateReason: String
}
