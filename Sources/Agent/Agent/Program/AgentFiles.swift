import EventLoop
import Glibc
import Inbox
import Names
import Settings

/// The locations of the agent's files (XDG Base Directory Specification).
struct AgentFiles: Sendable, Hashable {
  /// The user's configuration file; nil if no home directory is known.
  let configuration: String?
  /// The directory of the agent's state; nil if no home directory is known.
  let state: String?
  /// The files of which one must exist for the agent to keep an outbox.
  let mqtt: [String]

  /// Uses `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and `HOME`.
  init(environment: [String: String]) {
    let base = BaseDirectories(environment: environment)
    configuration = base.configuration.map { "\($0)/\(Names.Files.agentConfiguration)" }
    state = base.state.map { "\($0)/\(Names.Files.agentState)" }
    mqtt = [base.configuration.map { "\($0)/\(Names.Files.mqttConfiguration)" }, Names.Files.systemMqttConfiguration]
      .compactMap(\.self)
  }

  func inbox(_ configuration: AgentConfiguration) -> Inbox.Location {
    guard configuration.inbox else { return .memoryWhileOpen(directory: state, name: Names.Files.inboxDatabase) }
    guard let state else { return .memory }
    return .file(directory: state, name: Names.Files.inboxDatabase)
  }
}

extension Retention {
  init(_ configuration: AgentConfiguration) {
    self.init(days: configuration.retentionDays, maximumTaps: configuration.maximumTaps)
  }
}

extension Timestamp {
  static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
