import EventLoop
import Glibc

/// Files with the payload of a record, for applications that open files.
///
/// They are in the user's runtime directory, which is in memory and is gone after the session. Only the user can read
/// them. Nothing from the tag is in a file's name but the extension of its type. A file is removed after its lifetime
/// and at the end of the process. The next run of the agent removes a file that a killed process has left.
actor RecordFiles {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// The files at one time. If there are more, the oldest one is removed: a message has up to 1 MiB.
  static let maximumFiles = 16

  private let environment: [String: String]
  private let lifetime: Duration
  /// The paths of the files, the oldest first.
  private var paths: [String] = []

  init(environment: [String: String], lifetime: Duration, on loop: EventLoop) {
    self.environment = environment
    self.lifetime = lifetime
    self.loop = loop
  }

  /// Writes a file and returns its absolute path. The type is a media type in lower case.
  func write(_ payload: [UInt8], ofType type: String) async throws(HandOverFailure) -> String {
    let (environment, lifetime) = (environment, lifetime)
    let written: Result<String, SystemError>
    do throws(SystemError) {
      written = try await DedicatedThread.run {
        let directory = RecordDirectory(environment: environment)
        return Result { () throws(SystemError) -> String in
          try directory.removeFiles(olderThan: lifetime)
          return try directory.write(payload, extension: FileExtension.of(type, environment: environment))
        }
      }
    } catch {
      throw HandOverFailure(error)
    }
    switch written {
    case .success(let path):
      await keep(path)
      return path
    case .failure(let error): throw HandOverFailure(.fileNotWritten, error.description)
    }
  }

  private func keep(_ path: String) async {
    paths.append(path)
    let excess = Array(paths.prefix(max(0, paths.count - Self.maximumFiles)))
    if !excess.isEmpty { await remove(excess) }
    loop.schedule(after: lifetime) { [weak self] in Task { await self?.remove([path]) } }
  }

  private func remove(_ some: [String]) async {
    let own = some.filter(paths.contains)
    paths.removeAll(where: own.contains)
    guard !own.isEmpty else { return }
    _ = try? await DedicatedThread.run { for path in own { unlink(path) } }
  }

  /// Removes the files that killed processes have left: the old ones now, the others when they are old. A file's age
  /// is in whole seconds.
  func removeLeft() async {
    await removeOld()
    loop.schedule(after: lifetime + .seconds(1)) { [weak self] in Task { await self?.removeOld() } }
  }

  private func removeOld() async {
    let directory = RecordDirectory(environment: environment)
    // A clean-up does not make the directory.
    guard let path = directory.path else { return }
    _ = try? await DedicatedThread.run { [lifetime] in
      guard access(path, F_OK) == 0 else { return }
      try? directory.removeFiles(olderThan: lifetime)
    }
  }

  /// Removes all files of this process.
  func removeAll() async { await remove(paths) }
}
