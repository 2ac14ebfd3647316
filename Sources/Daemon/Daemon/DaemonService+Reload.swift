import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import Settings

/// The configuration, read again while the daemon runs.
extension DaemonService {
  /// Reads the configuration again and applies it (SIGHUP). A broken configuration is reported and not applied. Before
  /// the daemon is ready, the request waits.
  func reload() {
    Task { [reloads] in await reloads.request() }
  }

  /// Reads the configuration once and applies it.
  func readConfiguration() async {
    guard !isEnding else { return }
    notifier.reloading()
    // Take the time first: a file system may be slow.
    let time = Self.microsecondsSince1970()
    do throws(KeyFileError) {
      let new = try await readOnThread()
      guard !isEnding else { return }
      let changes = ConfigurationChanges(from: configuration, to: new)
      // This is the only change that may fail, so it comes first.
      if let sessions = changes.sessions { try await follow(sessions) }
      guard !isEnding else { return }
      configuration = new
      (configurationError, configurationTime) = (nil, time)
      log(
        .notice,
        "the configuration was read again: "
          + (changes.keys.isEmpty ? "no changes" : "changed: \(changes.keys.joined(separator: ", "))"))
      for action in changes.actions { await carryOut(action) }
      // pcscd or a driver of it may have been installed since.
      if !changes.actions.contains(.readers) { await carryOut(.readers) }
    } catch {
      // While the daemon stops, the failure is only that it has left the bus.
      guard !isEnding else { return }
      configurationError = error.description
      log(.error, "\(error); until then the previous configuration stays in force")
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

  /// Starts or stops following logind.
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
          problem: "cannot be applied: Sessions=logind needs logind's signals, but the system bus refuses them "
            + "(\(error.message))",
          remedy: "fix this and reload, or restore the previous value of Sessions")
      }
    case .any: await leaveLogins()
    }
  }

  private func carryOut(_ action: ConfigurationChanges.Action) async {
    guard !isEnding else { return }
    switch action {
    case .policy: handle(.policy(DaemonState.Policy(configuration, logThreshold: log.threshold)))
    case .readers:
      let listing = (roster.listing, roster.configured)
      pcsc.program = Self.program(Names.Files.pcscReaderProgram)
      perform(roster.handle(.configured(configuration.devices, configuration.backend, pcscSupport())))
      await pcsc.watch?.retryAtOnce()
      if listing != (roster.listing, roster.configured) { listReaders() }
    }
  }
}

extension ReaderPolling {
  init(_ configuration: DaemonConfiguration) {
    self.init(
      interval: configuration.pollInterval, idleInterval: configuration.idlePollInterval,
      technologies: configuration.technologies, feedback: configuration.feedback)
  }
}

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
