import Settings

/// What to do when a new configuration replaces the one in force. Pure.
struct ConfigurationChanges: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    /// Apply the new policy, and send the reader processes new goals if they have changed with it.
    case policy
    /// Change the readers.
    case readers
  }

  /// The keys that only say which readers there are.
  private static let keysOfReaders: Set<String> = ["Backend", "Devices"]

  /// The keys with different values, as they are written in the file.
  let keys: [String]
  /// The new source of sessions; nil if it has not changed. Apply it before the actions. If that fails, apply none of
  /// them.
  let sessions: DaemonConfiguration.Sessions?
  /// In the order to carry them out. The readers come last, so that a new reader starts with the other new settings.
  let actions: [Action]

  init(from old: DaemonConfiguration, to new: DaemonConfiguration) {
    keys = new.keys(differingFrom: old)
    sessions = keys.contains("Sessions") ? new.sessions : nil
    actions =
      (Self.keysOfReaders.isSuperset(of: keys) ? [] : [.policy])
      + (Self.keysOfReaders.isDisjoint(with: keys) ? [] : [.readers])
  }
}
