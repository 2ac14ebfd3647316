package import EventLoop
import Glibc
package import Routing
package import Settings

/// Kept up to date with the files. Of our programs, only the agent writes them.
package actor ChoiceStore {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  private struct Stamp: Sendable, Hashable {
    let inode: ino_t
    let size: off_t
    let seconds: time_t
    let nanoseconds: Int
  }

  private let files: ChoiceFiles?
  /// Nil if the files have to be read again, even if their attributes are the same.
  private var stamps: [Stamp?]?
  private var written = HandlerChoices()
  /// The oldest first.
  private var unwritten: (intents: [HandlerChoices.Change], handlers: [HandlerChoices.Change]) = ([], [])
  /// The choices in force: those in the files, with the unwritten changes applied.
  private var known = HandlerChoices()
  private var problems: [KeyFileError] = []
  private var lastWork: Task<Void, Never>?

  /// `XDG_CONFIG_HOME` and `HOME` locate the files if they are absolute. Otherwise choices are kept only in memory.
  package init(environment: [String: String] = ProcessEnvironment.current, on loop: EventLoop) {
    files = DataDirectories(environment: environment).userConfiguration.map { ChoiceFiles(directory: $0) }
    self.loop = loop
  }

  init(_ files: ChoiceFiles?, on loop: EventLoop) {
    self.files = files
    self.loop = loop
  }

  /// The files are read again only if one of them has changed. Also returns the new problems of the files.
  package func current() async -> (choices: HandlerChoices, newProblems: [KeyFileError]) {
    await inTurn { await self.refreshed() }
  }

  private func refreshed() async -> (choices: HandlerChoices, newProblems: [KeyFileError]) {
    let before = problems
    await refresh()
    return (known, problems.filter { !before.contains($0) })
  }

  /// Applies a change, in memory at once and then in the files.
  ///
  /// Throws in two cases. If a file cannot be changed, the file stays as it was. The change then holds until the agent
  /// ends, and is written once the file is repaired. If there would be too many choices, or a name that no file can
  /// hold, the change is not applied.
  package func apply(_ change: HandlerChoices.Change) async throws(KeyFileError) {
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
    // A repeated change replaces its earlier copy, because only the last one matters.
    unwritten.intents = unwritten.intents.filter { $0 != change } + [change]
    unwritten.handlers = unwritten.handlers.filter { $0 != change } + [change]
    known = new
    return await write(files)
  }

  /// Changes that cannot be written are kept for the next attempt.
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
    // Another program may have written meanwhile, so new stamps could belong to content that was never read.
    if written != old { stamps = nil }
    return (failures.handlers ?? failures.intents).map { .failure($0) } ?? .success(())
  }

  private func refresh() async {
    guard let files else { return }
    let last = stamps
    let found = try? await DedicatedThread.run { () -> (stamps: [Stamp?], content: ChoiceFiles.Content?) in
      // Take the stamps before reading: a change during the reading then causes another one.
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

  /// As if all changes were written. The two files are independent: preferences come from one, permissions and blocks
  /// from the other.
  private func changed(_ choices: HandlerChoices) -> HandlerChoices {
    var (intents, handlers) = (choices, choices)
    for change in unwritten.intents { _ = intents.apply(change) }
    for change in unwritten.handlers { _ = handlers.apply(change) }
    return HandlerChoices(preferred: intents.preferred, allowed: handlers.allowed, blocked: handlers.blocked)
  }

  /// In order, so that content that was read is never older than content that was written.
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
