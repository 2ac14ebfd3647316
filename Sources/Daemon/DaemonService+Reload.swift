import Bus
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
    do throws(KeyFileError) {
      let new = try await readOnThread()
      guard !isEnding else { return }
      let changes = ConfigurationChanges(from: configuration, to: new)
      // The one thing that may not take effect comes before anything is gone by.
      if let sessions = changes.sessions { try await follow(sessions) }
      guard !isEnding else { return }
      configuration = new
      (configurationError, configurationTime) = (nil, time)
      log(
        .notice,
        "the configuration was read again: "
          + (changes.keys.isEmpty ? "nothing has changed" : "new are \(changes.keys.joined(separator: ", "))"))
      for action in changes.actions { await carryOut(action) }
    } catch {
      // Nobody refuses anything: the bus was left.
      guard !isEnding else { return }
      configurationError = error.description
      log(.error, "\(error); until then the former configuration stays in force")
    }
    guard !isEnding else { return }
    apply([])
    notifier.ready(status: status)
  }

  private func readOnThread() async throws(KeyFileError) -> DaemonConfiguration {
    let read: Result<DaemonConfiguration, KeyFileError>
    do throws(SystemError) {
      read = try await DedicatedThread.run(readFiles)
    } catch {
      throw KeyFileError(
        file: "the configuration", line: nil, problem: "cannot be read (\(error))", remedy: "try again")
    }
    return try read.get()
  }

  /// Follows logind, or does not; where it cannot, all is as it was.
  private func follow(_ sessions: DaemonConfiguration.Sessions) async throws(KeyFileError) {
    switch sessions {
    case .logind:
      guard let connection else { return }
      do throws(BusError) {
        try await followLogins(connection)
      } catch {
        await leaveLogins()
        throw KeyFileError(
          file: "the configuration", line: nil,
          problem: "cannot take effect: Sessions=logind needs logind's signals, which the system bus refuses "
            + "(\(error.message))",
          remedy: "mend that and reload, or leave Sessions as it was")
      }
    case .any: await leaveLogins()
    }
  }

  private func carryOut(_ action: ConfigurationChanges.Action) async {
    guard !isEnding else { return }
    switch action {
    case .policy: handle(.policy(DaemonState.Policy(configuration, logThreshold: log.threshold)))
    case .devices(let names):
      perform(roster.handle(.configured(names)))
      listReaders()
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
