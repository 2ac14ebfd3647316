import EventLoop
import Inbox
import Journal
import Settings

/// The settings in force, the readings of their files, and the reports about both to the service manager.
actor ActiveSettings {
  private(set) var configuration: AgentConfiguration
  /// When the reading of the active configuration began.
  private(set) var time: Timestamp
  /// Nil if the last reading is active.
  private var mistake: KeyFileError?
  private let readFiles: @Sendable () -> Result<AgentConfiguration, KeyFileError>
  private var service: AgentService?
  private var conditions: DesktopConditions?
  private let files: AgentFiles
  /// The latest change of the file.
  private var writing: Task<SettingChangeError?, Never>?
  /// Holds requests until the agent is ready.
  private lazy var readings = SharedReadings { [weak self] in await self?.readOnce() ?? nil }
  /// Verifies domains once an hour. A cancelled verification may still be ending.
  private var verification: Task<Void, Never>?
  private var isEnding = false
  private var isRegistered = false
  private nonisolated let notifier = ServiceNotifier.fromEnvironment()
  private let log: Log
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Reads the settings again, on a thread that may block.
  init(
    _ configuration: AgentConfiguration, readAt time: Timestamp, files: AgentFiles, on loop: EventLoop, log: Log,
    readFiles: @escaping @Sendable () -> Result<AgentConfiguration, KeyFileError>
  ) {
    self.configuration = configuration
    self.time = time
    self.files = files
    self.loop = loop
    self.log = log
    self.readFiles = readFiles
  }

  /// From now on, new settings go to these parts. Tells the service manager that the agent is ready.
  func start(_ service: AgentService, _ conditions: DesktopConditions) async {
    guard !isEnding else { return }
    (self.service, self.conditions) = (service, conditions)
    notifier.ready(status: status)
    if configuration.verify { verify(true) }
    await readings.open()
    Task { await watch() }
  }

  func end() {
    isEnding = true
    notifier.stopping()
    verification?.cancel()
  }

  func setRegistered(_ isAccepted: Bool) {
    isRegistered = isAccepted
    notifier.status(status)
  }

  /// Returns the error that keeps the settings from being active.
  func read() async -> KeyFileError? { await readings.request().value }

  /// Changes the file, and makes the result active. Changes are made one after another.
  func change(_ changes: [String: String?]) async throws(SettingChangeError) {
    let previous = writing
    let task = Task {
      _ = await previous?.value
      return await write(changes)
    }
    writing = task
    if let error = await task.value { throw error }
    if let mistake = await read() { throw .file(mistake) }
  }

  private func write(_ changes: [String: String?]) async -> SettingChangeError? {
    guard let path = files.configuration else {
      return .file(KeyFileError(file: "agent.conf", line: nil, problem: "has no home directory", remedy: "set HOME"))
    }
    do throws(SystemError) {
      return try await DedicatedThread.run {
        do throws(SettingChangeError) {
          try AgentConfiguration.change(path, changes)
          return nil
        } catch {
          return error
        }
      }
    } catch {
      return .file(KeyFileError(file: path, line: nil, problem: "cannot be written (\(error))", remedy: "try again"))
    }
  }

  /// The names of the settings that the file has now. None if it cannot be read.
  func namesInFile() async -> Set<String> {
    guard let path = files.configuration else { return [] }
    return (try? await DedicatedThread.run { AgentConfiguration.names(inFile: path) }) ?? []
  }

  /// Makes all of the settings active, or none.
  private func readOnce() async -> KeyFileError? {
    guard let service, !isEnding else { return nil }
    notifier.reloading()
    let time = Timestamp.now()
    do throws(KeyFileError) {
      let new = try await readOnThread()
      // After `end()`, do not start anything.
      guard !isEnding else { return nil }
      let keys = new.keys(differingFrom: configuration)
      await service.adopt(new, inboxAt: files.inbox(new))
      guard !isEnding else { return nil }
      if new.verify != configuration.verify { verify(new.verify) }
      await conditions?.setFollowsCameras(new.suspendForCamera)
      (configuration, self.time, mistake) = (new, time, nil)
      log(
        .info,
        "the configuration was read again: "
          + (keys.isEmpty ? "nothing has changed" : "new are \(keys.joined(separator: ", "))"))
    } catch {
      log(.error, "\(error); until then the previous configuration stays in force")
      mistake = error
    }
    guard !isEnding else { return mistake }
    await service.interface.setConfiguration(readAt: self.time, mistake: mistake)
    notifier.ready(status: status)
    return mistake
  }

  private func readOnThread() async throws(KeyFileError) -> AgentConfiguration {
    let read: Result<AgentConfiguration, KeyFileError>
    do throws(SystemError) {
      read = try await DedicatedThread.run(readFiles)
    } catch {
      throw KeyFileError(file: "agent.conf", line: nil, problem: "cannot be read (\(error))", remedy: "try again")
    }
    return try read.get()
  }

  /// Once an hour. Two verifications never run at the same time.
  private func verify(_ isOn: Bool) {
    let previous = verification
    previous?.cancel()
    guard isOn, !isEnding else { return }
    verification = Task {
      await previous?.value
      await AssociationUpdate(clock: ContinuousClock(), log: log).run()
    }
  }

  private var status: String {
    let words = isRegistered ? "Registered with the daemon" : "Waiting for the daemon"
    return mistake.map { "\(words); the previous configuration is in force: \($0)" } ?? words
  }

  private func watch() async {
    guard let interval = notifier.watchdogInterval else { return }
    repeat { notifier.watchdog() } while (try? await Task.sleep(for: interval)) != nil
  }
}
