public import EventLoop
public import Routing

/// The handlers that are installed, kept up to date.
///
/// Desktop entries are read on a thread of their own; a route that is being taken keeps the registry that it began with,
/// for that is a value.
public actor HandlerRegistry {
  /// The loop that decides.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// Who handles what, as of the last look.
  public private(set) var registry = Registry()
  /// What was wrong with desktop entries at the last look, in the order of their paths.
  public private(set) var problems: [HandlerProblem] = []

  private let directories: DataDirectories
  private var schemes: [String]
  private let environment: [String: String]
  private let ownership: FileOwnership
  private let defaultApplication: DefaultApplications.Lookup
  private let shownName: @Sendable (Application) -> String
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private var settling: SettlingSchedule
  private var watch: DirectoryWatch?
  private var watchProblems: [HandlerProblem] = []
  private var plan = WatchPlan()
  /// What happens in directories that are being watched, and that the plan does not know of yet; nil where none are.
  private var early: Set<DirectoryWatch.Event>?
  /// What the last look has read: folders of desktop entries, and files of path rules.
  private var read: (directories: [String], linkFiles: Set<String>) = ([], [])
  private var loading: Task<Void, Never>?
  /// Whether a reading has come to its end.
  private var isRead = false
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextListener = 0

  /// - Parameters:
  ///   - directories: where desktop entries are.
  ///   - schemes: the schemes whose default application may be asked for.
  ///   - environment: for the user's languages, and `PATH` for `TryExec`.
  ///   - ownership: who can change files, which decides whom to trust.
  ///   - settling: for how long nothing may have changed before the directories are read again, since an installation changes
  ///     many files; after ten times as long they are read whatever happens.
  ///   - defaultApplication: who is the default of a scheme; by default GIO is asked.
  ///   - shownName: what a person reads as an application's name.
  ///   - loop: the loop that decides.
  public init(
    directories: DataDirectories = DataDirectories(), schemes: Set<String> = RoutingPolicy.defaultSchemes,
    environment: [String: String] = ProcessEnvironment.current, ownership: FileOwnership = .real,
    settling: Duration = .milliseconds(300),
    defaultApplication: DefaultApplications.Lookup? = nil,
    shownName: @escaping @Sendable (Application) -> String = { $0.name }, on loop: EventLoop
  ) {
    self.directories = directories
    self.schemes = schemes.sorted()
    self.environment = environment
    self.ownership = ownership
    self.settling = SettlingSchedule(quiet: settling, longest: settling * 10)
    began = clock.now
    self.defaultApplication = defaultApplication ?? DefaultApplications.gio(directories)
    self.shownName = shownName
    self.loop = loop
  }

  /// Reads the directories for the first time, and from here on again after each change.
  public func start() async {
    do {
      watch = try DirectoryWatch(on: loop) { [weak self] events in self?.assumeIsolated { $0.changed(events) } }
    } catch {
      watchProblems = [
        HandlerProblem(file: "/proc/sys/fs/inotify", message: "\(error); changes are seen at the next start")
      ]
    }
    await reload()
  }

  /// Reads the directories again, after any reading that is under way.
  public func reload() async {
    let previous = loading
    let task = Task {
      await previous?.value
      await self.load()
    }
    loading = task
    await task.value
  }

  /// Asks for the default applications of other schemes from here on, and reads the directories again where they are others.
  ///
  /// - Parameter schemes: lower-case.
  public func setSchemes(_ schemes: Set<String>) async {
    guard schemes.sorted() != self.schemes else { return }
    self.schemes = schemes.sorted()
    await reload()
  }

  /// An element after each change of `registry` or `problems`; changes that nobody waited for are one.
  public func changes() -> AsyncStream<Void> {
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
    // Where there are more, it matters whatever they are.
    early.formUnion(early.count < 1000 ? events.filter { !plan.knows($0.number) } : [.lost])
    self.early = early
  }

  private func somethingChanged() { perform(settling.changed(at: clock.now - began)) }

  private func perform(_ action: SettlingSchedule.Action) {
    switch action {
    case .none: break
    case .read: Task { await reload() }
    case .wait(let time):
      loop.schedule(after: time) { [weak self] in
        self?.assumeIsolated { $0.perform($0.settling.elapsed(at: $0.clock.now - $0.began)) }
      }
    }
  }

  private func load() async {
    do {
      // Watched before they are read, so that no change falls between.
      try await followFiles()
      let before = plan.reached
      let (directories, environment, ownership, schemes) = (directories, environment, ownership, schemes)
      let (defaultApplication, shownName) = (defaultApplication, shownName)
      if !isRead {
        // However long the user's entries take, the system's apps open links from the start.
        let first = try await DedicatedThread.run {
          let scan = HandlerScan(directories, environment: environment, ownership: ownership, onlySystem: true)
          return Registry(declarations: scan.declarations, shownName: shownName)
        }
        if !first.declarations.isEmpty { publish(first, []) }
      }
      // Readings come one after the other: nothing else changes it meanwhile. It may be large, so it is not compared on the loop.
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
      // What was not watched yet may have changed after its reading: one more look settles it.
      if !plan.reached.isSubset(of: before) { somethingChanged() }
      isRead = true
      publish(registry, problems)
    } catch {
      publish(nil, [HandlerProblem(file: "desktop entries", message: "could not be read: \(error)")])
    }
  }

  /// Watches where desktop entries may be and what was read last, and nothing else.
  ///
  /// On a thread of its own: what entries name may be on a file system that does not answer.
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

  /// - Parameters:
  ///   - registry: the new one; nil where it is as before.
  ///   - found: what is wrong with desktop entries now.
  private func publish(_ registry: Registry?, _ found: [HandlerProblem]) {
    let problems = watchProblems + found
    guard registry != nil || problems != self.problems else { return }
    if let registry { self.registry = registry }
    self.problems = problems
    for listener in listeners.values { listener.yield() }
  }
}
