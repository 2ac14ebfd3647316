package import EventLoop
package import NDEF
package import Routing

/// The installed handlers, kept up to date.
///
/// Desktop entries are read on a separate thread. A route in progress keeps the registry that it began with, because
/// the registry is a value.
package actor HandlerRegistry {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// As of the last load.
  package private(set) var registry = Registry()
  /// At the last load, in the order of the paths of desktop entries.
  package private(set) var problems: [HandlerProblem] = []

  private let directories: DataDirectories
  private var schemes: [String]
  private let environment: [String: String]
  private let ownership: FileOwnership
  private let defaultApplication: DefaultApplications.Lookup
  private let typeDefaults: TypeDefaults
  private let shownName: @Sendable (Application) -> String
  private let settling: Duration
  /// The first and the last of the changes that were not read yet.
  private var unread: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
  private var watch: DirectoryWatch?
  private var watchProblems: [HandlerProblem] = []
  private var plan = WatchPlan()
  /// Events of watches that `plan` does not know yet, collected while watches are being added; otherwise nil.
  private var early: Set<DirectoryWatch.Event>?
  /// The paths that the last load has read: folders of desktop entries, and files of path rules.
  private var read: (directories: [String], linkFiles: Set<String>) = ([], [])
  private var loading: Task<Void, Never>?
  private var isRead = false
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextListener = 0

  /// Reads the directories again when they were unchanged for `settling`, because an installation changes many files.
  /// After ten times as long they are read in any case.
  ///
  /// The schemes are those whose default application may be looked up, as for media types. The environment contains the
  /// user's languages, and `PATH` for `TryExec`. `ownership` decides how far an entry is trusted. `shownName` is the
  /// name of an application as a user reads it.
  package init(
    directories: DataDirectories = DataDirectories(), schemes: Set<String> = RoutingPolicy.defaultSchemes,
    environment: [String: String] = ProcessEnvironment.current, ownership: FileOwnership = .real,
    settling: Duration = .milliseconds(300),
    defaultApplication: @escaping DefaultApplications.Lookup = { _ in nil },
    defaultForType: @escaping DefaultApplications.Lookup = { _ in nil },
    shownName: @escaping @Sendable (Application) -> String = { $0.name }, on loop: EventLoop
  ) {
    self.directories = directories
    self.schemes = schemes.sorted()
    self.environment = environment
    self.ownership = ownership
    self.settling = settling
    self.defaultApplication = defaultApplication
    typeDefaults = TypeDefaults(directories, environment: environment, lookup: defaultForType, on: loop)
    self.shownName = shownName
    self.loop = loop
  }

  /// For a decision about a message, with the default application of its media type. Waits two seconds at most. A
  /// message that is nil needs none.
  package func registry(for message: NDEFMessage?) async -> Registry {
    guard let type = message.flatMap(Registry.typeOfDefault) else { return registry }
    let answer = await typeDefaults.answer(for: type)
    var result = registry
    result.typeDefaults[type] = answer
    return result
  }

  /// Starts to follow changes, too.
  package func start() async {
    do {
      watch = try DirectoryWatch(on: loop) { [weak self] events in self?.assumeIsolated { $0.changed(events) } }
    } catch {
      watchProblems = [
        HandlerProblem(file: "/proc/sys/fs/inotify", message: "\(error); changes are seen at the next start")
      ]
    }
    await reload()
  }

  /// After any load that is in progress.
  package func reload() async {
    let previous = loading
    let task = Task {
      await previous?.value
      await self.load()
    }
    loading = task
    await task.value
  }

  /// Those with default applications to look up, in lower case. Reads the directories again if the schemes differ.
  package func setSchemes(_ schemes: Set<String>) async {
    guard schemes.sorted() != self.schemes else { return }
    self.schemes = schemes.sorted()
    await reload()
  }

  /// An element after each change of `registry` or `problems`. Changes that the reader has not received yet are merged
  /// into one.
  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = nextListener
    nextListener += 1
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    return stream
  }

  private func forget(_ number: Int) { listeners[number] = nil }

  private func changed(_ events: [DirectoryWatch.Event]) {
    if events.contains(where: plan.matters) { somethingChanged() }
    guard var early else { return }
    // After 1,000 events, read again in any case.
    early.formUnion(early.count < 1000 ? events.filter { !plan.knows($0.number) } : [.lost])
    self.early = early
  }

  private func somethingChanged() {
    let now = ContinuousClock.now
    if unread == nil { wait(settling) }
    unread = (unread?.first ?? now, now)
  }

  private func wait(_ time: Duration) {
    loop.schedule(after: time) { [weak self] in self?.assumeIsolated { $0.readIfSettled() } }
  }

  /// Without the upper limit, files that never stop changing would hide new ones.
  private func readIfSettled() {
    guard let unread else { return }
    let rest = min(unread.last + settling, unread.first + settling * 10) - ContinuousClock.now
    guard rest <= .zero else { return wait(rest) }
    self.unread = nil
    Task { await reload() }
  }

  private func load() async {
    do {
      // Watch before reading, so that no change is missed in between.
      try await followFiles()
      let before = plan.reached
      let (directories, environment, ownership, schemes) = (directories, environment, ownership, schemes)
      let (defaultApplication, shownName) = (defaultApplication, shownName)
      if !isRead {
        // Publish the system's apps first, because the user's entries may take long to read.
        let first = try await DedicatedThread.run {
          let scan = HandlerScan(directories, environment: environment, ownership: ownership, onlySystem: true)
          return Registry(declarations: scan.declarations, shownName: shownName)
        }
        if !first.declarations.isEmpty { publish(first, []) }
      }
      // Loads run one after the other, so `registry` does not change meanwhile. It may be large, so compare it off the
      // loop.
      let previous = registry
      let (scan, problems, registry) = try await DedicatedThread.run {
        let scan = HandlerScan(directories, environment: environment, ownership: ownership)
        var (defaults, unusableDefaults, problems) = ([String: Application](), [String: String](), scan.problems)
        let tooLarge = DefaultApplications.obstacle(in: directories)
        if let tooLarge { problems.append(tooLarge) }
        for scheme in schemes {
          if let tooLarge {
            defaults[scheme] = previous.defaults[scheme]
            if defaults[scheme] == nil { unusableDefaults[scheme] = "\(tooLarge)" }
            continue
          }
          guard let application = defaultApplication(scheme) else { continue }
          if let obstacle = ExecHandOver(application: application, environment: environment).obstacle() {
            unusableDefaults[scheme] = "\(obstacle)"
          } else {
            defaults[scheme] = application
          }
        }
        let registry = Registry(
          declarations: scan.declarations, defaults: defaults, unusableDefaults: unusableDefaults,
          shownName: shownName)
        return (scan, problems, registry == previous ? nil : registry)
      }
      read = (scan.directories, scan.linkFiles)
      try await followFiles()
      // A directory may have changed between its first reading and the start of its watch, so read once more.
      if !plan.reached.isSubset(of: before) { somethingChanged() }
      isRead = true
      await typeDefaults.forget()
      publish(registry, problems)
    } catch {
      publish(nil, [HandlerProblem(file: "desktop entries", message: "could not be read: \(error)")])
    }
  }

  /// Watches the directories that may hold desktop entries and the paths that were read last. Removes all other
  /// watches.
  ///
  /// Runs on a separate thread, because entries may name paths on a file system that does not answer.
  private func followFiles() async throws(SystemError) {
    guard let watch else { return }
    let folders = directories.applications + directories.configuration + read.directories
    let files = read.linkFiles
    early = []
    defer { early = nil }
    let next = try await DedicatedThread.run { WatchPlan(folders, files: files, by: watch) }
    for number in plan.numbers.subtracting(next.numbers) { watch.remove(number) }
    plan = next
    if early?.contains(where: plan.matters) == true { somethingChanged() }
  }

  /// The registry is nil if it has not changed.
  private func publish(_ registry: Registry?, _ found: [HandlerProblem]) {
    let problems = watchProblems + found
    guard registry != nil || problems != self.problems else { return }
    if let registry { self.registry = registry }
    self.problems = problems
    for listener in listeners.values { listener.yield() }
  }
}
