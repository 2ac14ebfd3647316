import ReaderProtocol
import Settings

extension ReaderPolling {
  init(_ configuration: DaemonConfiguration) {
    self.init(
      interval: configuration.pollInterval, idleInterval: configuration.idlePollInterval,
      technologies: configuration.technologies, feedback: configuration.feedback)
  }
}

/// What a new configuration changes. Pure. The readers follow every new configuration.
struct ConfigurationChanges: Hashable, Sendable {
  /// The keys that only say which readers there are.
  private static let keysOfReaders: Set<String> = ["Backend", "Devices"]

  /// As they are written in the file.
  let keys: [String]
  /// The new source of sessions; nil if it has not changed. Apply it first. If that fails, apply nothing else.
  let sessions: DaemonConfiguration.Sessions?
  /// The reader processes get new goals if these have changed with it.
  let hasNewPolicy: Bool

  init(from old: DaemonConfiguration, to new: DaemonConfiguration) {
    keys = new.keys(differingFrom: old)
    sessions = keys.contains("Sessions") ? new.sessions : nil
    hasNewPolicy = !Self.keysOfReaders.isSuperset(of: keys)
  }
}
