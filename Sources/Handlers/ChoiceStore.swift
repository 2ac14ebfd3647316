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
  private var stamps: [Stamp?]?
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
  /// - Throws: `KeyFileError` where a file cannot be changed: it is as it was, and the change holds until the agent ends or the
  ///   file is mended; or where there would be too many choices, and nothing has changed.
  public func apply(_ change: HandlerChoices.Change) async throws(KeyFileError) {
    try await inTurn { await self.applied(change) }.get()
  }

  private func applied(_ change: HandlerChoices.Change) async -> Result<Void, KeyFileError> {
    await refresh()
    let old = known
    guard known.apply(change) else {
      return .failure(
        KeyFileError(
          file: files?.handlers ?? "handlers", line: nil, problem: "there are \(old.count) choices already",
          remedy: "forget some with tagroute handlers forget"))
    }
    let new = known
    guard let files, new != old else { return .success(()) }
    let written = try? await DedicatedThread.run { () -> (Result<Void, KeyFileError>, [Stamp?]) in
      let result = Result { () throws(KeyFileError) in try files.write(new, over: old) }
      return (result, Self.stamps(of: files))
    }
    guard let (result, stamps) = written else {
      return .failure(
        KeyFileError(file: files.handlers, line: nil, problem: "cannot be written", remedy: "free some memory"))
    }
    self.stamps = stamps
    return result
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
    stamps = found.stamps
    known = content.choices
    problems = content.problems
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
