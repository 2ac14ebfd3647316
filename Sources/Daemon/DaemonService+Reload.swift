import Configuration
import EventLoop
import Glibc
import Journal
import KeyFile
import ReaderLink

/// The configuration, read again while the daemon runs.
extension DaemonService {
  /// What SIGHUP asks for: reads the configuration again and goes by it, or, where it is broken, goes on with the former one and says
  /// what is wrong. Before the daemon is ready it is done once it is.
  func reload() {
    Task { [reloads] in await reloads.request() }
  }

  /// One reading, and what follows of it.
  func readConfiguration() async {
    guard !isEnding else { return }
    notifier.reloading()
    // A reading takes a moment, and longer where a file system does not answer.
    let time = Self.microsecondsSince1970()
    let read: Result<DaemonConfiguration, KeyFileError>
    do throws(SystemError) {
      read = try await DedicatedThread.run(readFiles)
    } catch {
      read = .failure(
        KeyFileError(file: "the configuration", line: nil, problem: "cannot be read (\(error))", remedy: "try again"))
    }
    guard !isEnding else { return }
    switch read {
    case .success(let new):
      let changes = ConfigurationChanges(from: configuration, to: new)
      log(
        .notice,
        "the configuration was read again: "
          + (changes.keys.isEmpty ? "nothing has changed" : "new are \(changes.keys.joined(separator: ", "))"))
      configuration = new
      (configurationError, configurationTime) = (nil, time)
      for action in changes.actions { await carryOut(action) }
    case .failure(let mistake):
      configurationError = mistake.description
      log(.error, "\(mistake); until then the former configuration stays in force")
    }
    guard !isEnding else { return }
    apply([])
    notifier.ready(status: status)
  }

  private func carryOut(_ action: ConfigurationChanges.Action) async {
    guard !isEnding else { return }
    switch action {
    case .sessions(.logind):
      guard let connection else { return }
      do {
        try await followLogins(connection)
      } catch {
        // As at the start.
        end(.failed(DaemonError(error)))
      }
    case .sessions(.any): await leaveLogins()
    case .policy: handle(.policy(DaemonState.Policy(configuration, logThreshold: log.threshold)))
    case .polling:
      let polling = ReaderPolling(configuration)
      for unit in Array(units.values) { await unit.process.configure(polling) }
    case .devices(let names):
      // What lies on a reader that comes with it may have been announced, by another process.
      perform(roster.handle(.configured(names)), quietly: true)
      listReaders(quietly: true)
    }
  }
}

extension ReaderPolling {
  init(_ configuration: DaemonConfiguration) {
    self.init(
      interval: configuration.pollInterval, idleInterval: configuration.idlePollInterval,
      technologies: configuration.technologies)
  }
}
