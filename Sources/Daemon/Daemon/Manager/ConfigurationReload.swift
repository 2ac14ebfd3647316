import Bus
import EventLoop
import Journal
import ReaderProtocol
import Settings

@DaemonLoop final class ConfigurationReload {
  private let core: DaemonCore
  private let monitors: MachineMonitors
  private let readers: Readers
  private let notifier: ServiceNotifier
  /// The configuration in force.
  private(set) var configuration: DaemonConfiguration
  /// Blocks.
  private let readFiles: @Sendable () -> Result<DaemonConfiguration, KeyFileError>
  /// In the configuration that was read last; nil if it is in force.
  private(set) var error: String?
  /// When the reading of the configuration in force began, in microseconds since 1970.
  private(set) var time: UInt64
  private var lastStatus = ""
  private lazy var readings = SharedReadings { [weak self] in await self?.read() }

  /// The reading of `configuration` began at `time`. `readFiles` reads it again, on a thread that may block.
  init(
    _ core: DaemonCore, _ monitors: MachineMonitors, _ readers: Readers, _ notifier: ServiceNotifier,
    _ configuration: DaemonConfiguration, readAt time: UInt64,
    readFiles: @escaping @Sendable () -> Result<DaemonConfiguration, KeyFileError>
  ) {
    (self.core, self.monitors, self.readers, self.notifier) = (core, monitors, readers, notifier)
    (self.configuration, self.time, self.readFiles) = (configuration, time, readFiles)
  }

  /// For `systemctl status`.
  var status: String {
    let reasons = core.state.suspendReasons
    let scanning = reasons.isEmpty ? "scanning" : "not scanning: \(reasons.joined(separator: ", "))"
    return error.map { "\(scanning); the previous configuration is in force: \($0)" } ?? scanning
  }

  func publishStatus() {
    guard status != lastStatus else { return }
    lastStatus = status
    notifier.status(status)
  }

  /// Reads the configuration again and applies it (SIGHUP). A broken configuration is reported and not applied. Before
  /// the daemon is ready, the request waits.
  func request() {
    Task { [readings] in await readings.request() }
  }

  /// The daemon has reported to systemd that it is ready, so the requested readings may start.
  func open() async { await readings.open() }

  private func read() async {
    guard !core.isEnding else { return }
    notifier.reloading()
    // Take the time first: a file system may be slow.
    let time = SystemClock.now
    do throws(KeyFileError) {
      let new = try await readOnThread()
      guard !core.isEnding else { return }
      let changes = ConfigurationChanges(from: configuration, to: new)
      // This is the only change that may fail, so it comes first.
      if let sessions = changes.sessions { try await follow(sessions) }
      guard !core.isEnding else { return }
      configuration = new
      (error, self.time) = (nil, time)
      core.log(
        .notice,
        "the configuration was read again: "
          + (changes.keys.isEmpty ? "no changes" : "changed: \(changes.keys.joined(separator: ", "))"))
      // The readers come last, so that a new reader starts with the other new settings.
      if changes.hasNewPolicy { core.handle(.policy(DaemonState.Policy(new, logThreshold: core.log.threshold))) }
      readers.update(new)
    } catch {
      // While the daemon stops, the failure is only that it has left the bus.
      guard !core.isEnding else { return }
      self.error = error.description
      core.log(.error, "\(error); until then the previous configuration stays in force")
    }
    guard !core.isEnding else { return }
    core.apply([])
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
      guard let connection = core.connection else { return }
      do throws(BusError) {
        try await monitors.followLogins(connection)
      } catch {
        await monitors.leaveLogins()
        throw KeyFileError(
          file: "the configuration", line: nil,
          problem: "cannot be applied: Sessions=logind needs logind's signals, but the system bus refuses them "
            + "(\(error.message))",
          remedy: "fix this and reload, or restore the previous value of Sessions")
      }
    case .any: await monitors.leaveLogins()
    }
  }
}

extension DaemonState.Policy {
  init(_ configuration: DaemonConfiguration, logThreshold: LogLevel) {
    self.logThreshold = logThreshold
    servesAnySession = configuration.sessions == .any
    station = configuration.stationUser?.uid
    polling = ReaderPolling(configuration)
    removalDelay = configuration.removalDelay
    sessionLimit = configuration.sessionLimit
    scan = configuration.scan
    smartPosters = configuration.smartPosters
  }
}
