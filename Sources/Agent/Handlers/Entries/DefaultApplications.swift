import EventLoop
package import Routing
import Settings

/// Those of a scheme or a media type, as the user has set them.
package enum DefaultApplications {
  /// Of a lower-case scheme or media type. Runs off the loop.
  package typealias Lookup = @Sendable (_ name: String) -> Application?

  /// What `Lookup` returns, from the keys of a desktop entry. `isDBusActivatable` is the value of that key.
  /// `isExported`: the entry has one of `DataDirectories.storeKeys`.
  package static func application(
    _ id: String, _ file: String, name: String?, icon: String?, isDBusActivatable: Bool, isExported: Bool,
    in directories: DataDirectories
  ) -> Application {
    Application(
      desktopID: id, name: name ?? id, icon: icon, file: file,
      isDBusActivatable: isDBusActivatable && DesktopEntry.isBusName(id.dropLast(".desktop".count)),
      origin: directories.origin(of: file, isExported: isExported))
  }

  /// Why GIO must not be asked: its own walk through the folders of desktop entries could take minutes. GIO follows
  /// each link to a directory, also out of the folder and in circles. Blocks on files, for a bounded time.
  static func obstacle(in directories: DataDirectories) -> HandlerProblem? {
    for path in directories.applications {
      var room = HandlerScan.maximumNames
      guard isTooLarge(path, &room) else { continue }
      return HandlerProblem(
        file: path,
        message:
          "there are too many names or directories, counted behind links, so no default application is looked up; "
          + "remove links to directories")
    }
    return nil
  }

  private static func isTooLarge(_ path: String, _ room: inout Int) -> Bool {
    guard Files.isDirectory(path), let names = FileContents.names(inDirectory: path, atMost: room) else { return false }
    // A directory uses up room too: `HandlerScan.maximumDirectories` of them use up all of it.
    room -= names.count + HandlerScan.maximumNames / HandlerScan.maximumDirectories
    guard room > 0 else { return true }
    for name in names where !name.hasSuffix(".desktop") {
      if isTooLarge("\(path)/\(name)", &room) { return true }
    }
    return false
  }
}

/// Looks up the default applications of media types, when a tag needs one.
///
/// There are too many types to look all of them up in advance. An answer is kept until the desktop entries change.
actor TypeDefaults {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// Answers that are kept. A day has more types of tags only if a person tries to exceed this.
  static let maximumAnswers = 64
  /// Look-ups that have not ended. Each has a thread, and a file system that does not answer keeps it.
  static let maximumPending = 4

  private let directories: DataDirectories
  private let environment: [String: String]
  private let lookup: DefaultApplications.Lookup
  private let timeout: Duration
  private var answers: [String: TypeDefault] = [:]
  private var pending: [String: Task<TypeDefault, Never>] = [:]
  /// Increases when the desktop entries change, so that an older answer is not kept.
  private var generation = 0

  /// A tap waits for `timeout` at most.
  init(
    _ directories: DataDirectories, environment: [String: String], lookup: @escaping DefaultApplications.Lookup,
    timeout: Duration = .seconds(2), on loop: EventLoop
  ) {
    self.directories = directories
    self.environment = environment
    self.lookup = lookup
    self.timeout = timeout
    self.loop = loop
  }

  /// Call this if the desktop entries or the list of default applications may have changed.
  func forget() {
    answers = [:]
    generation += 1
  }

  /// In lower case.
  func answer(for type: String) async -> TypeDefault {
    if let answer = answers[type] { return answer }
    guard let task = task(for: type) else { return .unusable("too many other look-ups have not ended") }
    let (words, word) = AsyncStream.makeStream(of: TypeDefault?.self)
    Task { word.yield(await task.value) }
    let alarm = loop.schedule(after: timeout) { word.yield(nil) }
    defer { alarm.cancel() }
    guard case let answer?? = await words.first(where: { _ in true }) else {
      return .unusable("the look-up takes too long, as on a file system that does not answer")
    }
    return answer
  }

  private func task(for type: String) -> Task<TypeDefault, Never>? {
    if let task = pending[type] { return task }
    guard pending.count < Self.maximumPending else { return nil }
    let (directories, environment, lookup, generation) = (directories, environment, lookup, generation)
    let task = Task {
      let answer =
        (try? await DedicatedThread.run { Self.find(type, directories, environment, lookup) })
        ?? .unusable("the system has no thread left")
      pending[type] = nil
      if generation == self.generation {
        if answers.count >= Self.maximumAnswers { answers = [:] }
        answers[type] = answer
      }
      return answer
    }
    pending[type] = task
    return task
  }

  /// Blocks on files.
  private static func find(
    _ type: String, _ directories: DataDirectories, _ environment: [String: String],
    _ lookup: DefaultApplications.Lookup
  ) -> TypeDefault {
    if let tooLarge = DefaultApplications.obstacle(in: directories) { return .unusable("\(tooLarge)") }
    guard let application = lookup(type) else { return .missing }
    let hand = ExecHandOver(application: application, environment: environment)
    if let obstacle = hand.obstacle(to: .file) { return .unusable("\(obstacle)") }
    return .application(application)
  }
}
