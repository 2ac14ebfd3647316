import EventLoop
import Routing

/// Looks up the default applications of media types, when a tag needs one.
///
/// There are too many types to look all of them up in advance. An answer is kept until the desktop entries change.
actor TypeDefaults {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// Answers that are kept. More types are on tags of one day only if somebody tries.
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

  /// Forgets all answers, because the desktop entries or the list of default applications may have changed.
  func forget() {
    answers = [:]
    generation += 1
  }

  /// The default application of a media type in lower case.
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
