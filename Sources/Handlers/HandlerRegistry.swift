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
  private let schemes: [String]
  private let environment: [String: String]
  private let defaultApplication: DefaultApplications.Lookup
  private let settling: Duration
  private var watch: DirectoryWatch?
  private var watchProblems: [HandlerProblem] = []
  private var watched: Set<String> = []
  private var loading: Task<Void, Never>?
  private var isReloadDue = false
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextListener = 0

  /// - Parameters:
  ///   - directories: where desktop entries are.
  ///   - schemes: the schemes whose default application may be asked for.
  ///   - environment: for the user's languages, and `PATH` for `TryExec`.
  ///   - settling: how long after a change the directories are read again; an installation changes many files at once.
  ///   - defaultApplication: who is the default of a scheme; by default GIO is asked.
  ///   - loop: the loop that decides.
  public init(
    directories: DataDirectories = DataDirectories(), schemes: Set<String> = RoutingPolicy.defaultSchemes,
    environment: [String: String] = ProcessEnvironment.current, settling: Duration = .milliseconds(300),
    defaultApplication: DefaultApplications.Lookup? = nil, on loop: EventLoop
  ) {
    self.directories = directories
    self.schemes = schemes.sorted()
    self.environment = environment
    self.settling = settling
    self.defaultApplication = defaultApplication ?? DefaultApplications.gio(directories)
    self.loop = loop
  }

  /// Reads the directories for the first time, and from here on again after each change.
  public func start() async {
    do {
      watch = try DirectoryWatch(on: loop) { [weak self] in self?.assumeIsolated { $0.directoryChanged() } }
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

  private func directoryChanged() {
    guard !isReloadDue else { return }
    isReloadDue = true
    loop.schedule(after: settling) { [weak self] in
      self?.assumeIsolated { registry in
        registry.isReloadDue = false
        Task { await registry.reload() }
      }
    }
  }

  private func load() async {
    // Watched before they are read, so that no change falls between.
    let known = directories.applications.map(\.path) + directories.configuration
    watched = watched.union(known).filter { watch?.add($0) ?? false }
    do {
      let (directories, environment, schemes) = (directories, environment, schemes)
      let defaultApplication = defaultApplication
      let (scan, registry) = try await onOwnThread {
        let scan = HandlerScan(directories, environment: environment)
        var defaults: [String: Application] = [:]
        var unusableDefaults: [String: String] = [:]
        for scheme in schemes {
          guard let application = defaultApplication(scheme) else { continue }
          if let obstacle = ExecHandOver(application: application, environment: environment).obstacle() {
            unusableDefaults[scheme] = "\(application.desktopID): \(obstacle.message)"
          } else {
            defaults[scheme] = application
          }
        }
        let registry = Registry(
          declarations: scan.declarations, defaults: defaults, unusableDefaults: unusableDefaults)
        return (scan, registry)
      }
      // A folder that was not watched yet may have changed after its reading: one more look settles it.
      let reachable = Set(scan.directories.filter { watch?.add($0) ?? false })
      if !reachable.isSubset(of: watched) { directoryChanged() }
      watched = reachable
      publish(registry, scan.problems)
    } catch {
      publish(registry, [HandlerProblem(file: "desktop entries", message: "could not be read: \(error)")])
    }
  }

  private func publish(_ registry: Registry, _ found: [HandlerProblem]) {
    let problems = watchProblems + found
    guard registry != self.registry || problems != self.problems else { return }
    self.registry = registry
    self.problems = problems
    for listener in listeners.values { listener.yield() }
  }
}
