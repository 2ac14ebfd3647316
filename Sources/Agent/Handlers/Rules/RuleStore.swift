package import EventLoop
import Glibc
package import Routing
package import Settings

/// Kept up to date with the files of rules.
package actor RuleStore {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// With the applications that they name.
  package private(set) var rules = RuleSet()
  /// Of the last reading.
  package private(set) var problems: [KeyFileError] = []

  /// More directories than a path has below the home directory.
  private static let mostLooks = 8

  private let files: RuleFiles
  private let applications: InstalledApplications
  private let settling: Duration
  private var watch: DirectoryWatch?
  /// One directory may be watched for two others that would appear in it.
  private var watched: [Int32: [DirectoryWatch.Watched]] = [:]
  private var loading: Task<Void, Never>?
  private var isAlarmSet = false
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextListener = 0

  /// Reads the files again `settling` after a change, because an editor makes several.
  package init(
    files: RuleFiles = RuleFiles(), directories: DataDirectories = DataDirectories(),
    environment: [String: String] = ProcessEnvironment.current, settling: Duration = .milliseconds(30),
    on loop: EventLoop
  ) {
    self.files = files
    applications = InstalledApplications(directories: directories, environment: environment)
    self.settling = settling
    self.loop = loop
  }

  /// Starts to follow changes, too.
  package func start() async {
    // Without a watch, changes are seen at the next reload.
    watch = try? DirectoryWatch(on: loop) { [weak self] events in self?.assumeIsolated { $0.changed(events) } }
    await reload()
  }

  /// With the named applications, after any reading that is in progress.
  package func reload() async {
    let previous = loading
    let task = Task {
      await previous?.value
      await self.load()
    }
    loading = task
    await task.value
  }

  /// An element after each change of `rules` or `problems`. Changes that the reader has not received yet are merged
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
    guard !isAlarmSet, events.contains(where: matters) else { return }
    isAlarmSet = true
    loop.schedule(after: settling) { [weak self] in
      self?.assumeIsolated { store in
        store.isAlarmSet = false
        Task { await store.reload() }
      }
    }
  }

  private func matters(_ event: DirectoryWatch.Event) -> Bool {
    guard let watched = watched[event.number], !event.isOfDirectory, !event.name.isEmpty else { return true }
    return watched.contains { $0.missing.map { $0 == event.name } ?? event.name.hasSuffix(".conf") }
  }

  private func load() async {
    let (files, applications, watch) = (files, applications, watch)
    let found = try? await DedicatedThread.run {
      () -> (
        watched: [DirectoryWatch.Watched], content: RuleFiles.Content, applications: [String: RuleSet.NamedApplication]
      ) in
      // Watch before reading, so that no change is missed in between. A directory may appear while the one above it is
      // being watched. Nothing was missed if the watches are the same a second time.
      var last = files.directories.compactMap { watch?.add($0.path) }
      var watched = last
      var content = files.read()
      for _ in 0..<Self.mostLooks {
        let next = files.directories.compactMap { watch?.add($0.path) }
        guard next != last else { break }
        (last, watched) = (next, watched + next)
        content = files.read()
      }
      var named: [String: RuleSet.NamedApplication] = [:]
      for case .open(let id) in content.rules.map(\.action) where named[id] == nil {
        named[id] = applications.application(id)
      }
      return (watched, content, named)
    }
    guard let found else { return }
    let numbers = Set(found.watched.map(\.number))
    for number in watched.keys where !numbers.contains(number) { watch?.remove(number) }
    watched = Dictionary(grouping: found.watched, by: \.number)
    var rules = RuleSet(found.content.rules)
    rules.applications = found.applications
    guard rules != self.rules || found.content.problems != problems else { return }
    (self.rules, problems) = (rules, found.content.problems)
    for listener in listeners.values { listener.yield() }
  }
}

/// Finds the applications that rules name. They need not be handlers.
struct InstalledApplications {
  let directories: DataDirectories
  let environment: [String: String]
  var ownership = FileOwnership.real

  /// Nil if the application cannot be given a link or a file. Blocks on files.
  func application(_ id: String) -> RuleSet.NamedApplication? {
    for directory in directories.applications {
      for path in paths(of: id, in: directory) {
        // As in the Desktop Entry Specification, the first file with this id decides.
        guard let bytes = try? Files.contents(of: path) else { continue }
        guard let keyFile = try? KeyFile(bytes: bytes, file: path), (try? keyFile.flag("Hidden")) != true else {
          return nil
        }
        let isExported = DataDirectories.storeKeys.contains { keyFile.entry(DesktopEntry.group, $0) != nil }
        let entry = try? DesktopEntry(
          keyFile, desktopID: id,
          origin: directories.origin(of: path, isExported: isExported, ownership: ownership),
          languages: LanguagePreference.languages(in: environment))
        guard let application = entry?.application else { return nil }
        let hand = ExecHandOver(application: application, environment: environment)
        let named = RuleSet.NamedApplication(
          application, takesLinks: hand.obstacle(to: .link) == nil, takesFiles: hand.obstacle(to: .file) == nil)
        return named.takesLinks || named.takesFiles ? named : nil
      }
    }
    return nil
  }

  /// Whether there is a desktop entry with this id. Blocks on files.
  func contains(_ id: String) -> Bool {
    directories.applications.contains { directory in paths(of: id, in: directory).contains { access($0, F_OK) == 0 } }
  }

  /// The file of an id, and the one in a subdirectory: its name is then before the first hyphen.
  private func paths(of id: String, in directory: String) -> [String] {
    let hyphen = id.firstIndex(of: "-").map { "\(directory)/\(id[..<$0])/\(id[id.index(after: $0)...])" }
    return ["\(directory)/\(id)", hyphen].compactMap(\.self)
  }
}
