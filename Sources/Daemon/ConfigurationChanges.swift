import Configuration

/// What has to be done where another configuration takes the place of the one that is in force. Pure.
struct ConfigurationChanges: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    /// Decide by other rules, and have the processes of readers look for other tags, or at other intervals.
    case policy
    /// Have other readers.
    case devices([String])
  }

  /// The keys whose values differ, as they are written in the file.
  let keys: [String]
  /// Whose word on sessions is to count, logind's or nobody's; nil where that is as it was. Comes before the actions, since it may not take
  /// effect, and then nothing does.
  var sessions: DaemonConfiguration.Sessions? { wanted.contains(.sessions) ? new.sessions : nil }
  /// In the order in which they are carried out: who decides comes before what is decided, and a reader that comes with the change
  /// finds everything else as it is to be.
  var actions: [Action] {
    Self.order.filter(wanted.contains).compactMap(action)
  }

  private enum Kind { case sessions, policy, devices }

  private static let order: [Kind] = [.policy, .devices]
  private let wanted: Set<Kind>
  private let new: DaemonConfiguration

  /// - Parameters:
  ///   - old: what is in force.
  ///   - new: what is to be.
  init(from old: DaemonConfiguration, to new: DaemonConfiguration) {
    self.new = new
    keys = new.keys(differingFrom: old)
    wanted = keys.reduce(into: []) { $0.formUnion(Self.kinds(of: $1)) }
  }

  private static func kinds(of key: String) -> Set<Kind> {
    switch key {
    case "Devices": [.devices]
    case "Sessions": [.sessions, .policy]
    default: [.policy]
    }
  }

  private func action(_ kind: Kind) -> Action? {
    switch kind {
    case .sessions: nil
    case .policy: .policy
    case .devices: .devices(new.devices)
    }
  }
}
