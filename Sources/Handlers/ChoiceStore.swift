public import EventLoop
import Glibc
public import KeyFile
public import Routing

/// The user's choices about handlers, as their files say them now. The agent is the only program of ours that writes them.
public actor ChoiceStore {
  /// The loop that decides.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// What is known of the files without reading them.
  private struct Stamp: Sendable, Hashable {
    let inode: ino_t
    let size: off_t
    let seconds: time_t
    let nanoseconds: Int
  }

  private let files: ChoiceFiles?
  /// Nil where they are to be read again, whatever they look like.
  private var stamps: [Stamp?]?
  /// What the files say.
  private var written = HandlerChoices()
  /// What the files do not say yet, the oldest first.
  private var unwritten: (intents: [HandlerChoices.Change], handlers: [HandlerChoices.Change]) = ([], [])
  /// What holds: what the files say, changed so.
  private var known = HandlerChoices()
  private var problems: [KeyFileError] = []
  private var lastWork: Task<Void, Never>?

  /// - Parameters:
  ///   - environment: `XDG_CONFIG_HOME` and `HOME` say where the files are, where they are absolute; otherwise choices are kept
  ///     in memory.
  ///   - loop: the loop that decides.
  public init(environment: [String: String] = ProcessEnvironment.current, on loop: EventLoop) {
    files = DataDirectories(environment: environment).userConfiguration.map { ChoiceFiles(directory: $0) }
    self.loop = loop
  }

  init(_ files: ChoiceFiles?, on loop: EventLoop) {
    self.files = files
    self.loop = loop
  }

  /// The choices. The files are read again only where one of them has changed.
  ///
  /// - Returns: the choices, and what is newly wrong with the files.
  public func current() async -> (choices: HandlerChoices, newProblems: [KeyFileError]) {
    await inTurn { await self.refreshed() }
  }

  private func refreshed() async -> (choices: HandlerChoices, newProblems: [KeyFileError]) {
    let before = problems
    await refresh()
    return (known, problems.filter { !before.contains($0) })
  }

  /// Changes them, in memory at once and then in their files.
  ///
  /// - Throws: `KeyFileError` where a file cannot be changed: it is as it was, and the change holds until the agent ends and is
  ///   written once the file is mended; or where there would be too many choices or a name that no file can hold, and nothing has
  ///   changed.
  public func apply(_ change: HandlerChoices.Change) async throws(KeyFileError) {
    try await inTurn { await self.applied(change) }.get()
  }

  private func applied(_ change: HandlerChoices.Change) async -> Result<Void, KeyFileError> {
    await refresh()
    var new = known
    guard new.apply(change), max(unwritten.intents.count, unwritten.handlers.count) < HandlerChoices.maximumClaims
    else {
      return .failure(
        KeyFileError(
          file: files?.handlers ?? "handlers", line: nil, problem: "there are \(known.count) choices already",
          remedy: "forget some with tagroute handlers forget"))
    }
    guard new != known else { return .success(()) }
    guard let files else {
      known = new
      return .success(())
    }
    if let obstacle = files.obstacle(to: new, over: known) { return .failure(obstacle) }
    // What a change does again in the end it need not have done before.
    unwritten.intents = unwritten.intents.filter { $0 != change } + [change]
    unwritten.handlers = unwritten.handlers.filter { $0 != change } + [change]
    known = new
    return await write(files)
  }

  /// Writes what is not written yet; what cannot be is kept for the next time.
  private func write(_ files: ChoiceFiles) async -> Result<Void, KeyFileError> {
    let (new, old) = (known, written)
    guard let failures = try? await DedicatedThread.run({ files.write(new, over: old) }) else {
      return .failure(
        KeyFileError(file: files.handlers, line: nil, problem: "cannot be written", remedy: "free some memory"))
    }
    if failures.intents == nil {
      unwritten.intents = []
      written.preferred = new.preferred
    }
    if failures.handlers == nil {
      unwritten.handlers = []
      (written.allowed, written.blocked) = (new.allowed, new.blocked)
    }
    // Another program may have written since: the stamps of now would be of something that was never read.
    if written != old { stamps = nil }
    return (failures.handlers ?? failures.intents).map { .failure($0) } ?? .success(())
  }

  private func refresh() async {
    guard let files else { return }
    let last = stamps
    let found = try? await DedicatedThread.run { () -> (stamps: [Stamp?], content: ChoiceFiles.Content?) in
      // Before they are read: what changes meanwhile is read once more.
      let stamps = Self.stamps(of: files)
      return (stamps, stamps == last ? nil : files.read())
    }
    guard let found, let content = found.content else { return }
    stamps = content.isKnown == (true, true) ? found.stamps : nil
    if content.isKnown.intents { written.preferred = content.choices.preferred }
    if content.isKnown.handlers {
      (written.allowed, written.blocked) = (content.choices.allowed, content.choices.blocked)
    }
    problems = content.problems
    known = changed(written)
    if !unwritten.intents.isEmpty || !unwritten.handlers.isEmpty { _ = await write(files) }
  }

  /// What the files would say, were all written. Who is preferred does not depend on what the other file says, nor that on this.
  private func changed(_ choices: HandlerChoices) -> HandlerChoices {
    var (intents, handlers) = (choices, choices)
    for change in unwritten.intents { _ = intents.apply(change) }
    for change in unwritten.handlers { _ = handlers.apply(change) }
    return HandlerChoices(preferred: intents.preferred, allowed: handlers.allowed, blocked: handlers.blocked)
  }

  /// One after the other: what is read must not be older than what was written.
  private func inTurn<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    let previous = lastWork
    let task = Task {
      await previous?.value
      return await work()
    }
    lastWork = Task { _ = await task.value }
    return await task.value
  }

  private static func stamps(of files: ChoiceFiles) -> [Stamp?] {
    [files.intents, files.handlers].map { path in
      var information = stat()
      guard stat(path, &information) == 0 else { return nil }
      return Stamp(
        inode: information.st_ino, size: information.st_size, seconds: information.st_mtim.tv_sec,
        nanoseconds: information.st_mtim.tv_nsec)
    }
  }
}
