import EventLoop
import Glibc

/// Held while the inbox's file is open, so that only one process writes it. Otherwise two agents of one user, on two
/// session buses, would each show and hand over the other's taps.
///
/// An `flock` on a file beside the database. The kernel releases it when the process ends.
final class InboxLock: Sendable {
  let descriptor: FileDescriptor

  private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Unlocks explicitly: between `fork` and `exec` a child shares the open file, so closing it here would not release
  /// it.
  deinit { flock(descriptor.rawValue, LOCK_UN) }

  /// Whether this lock still guards `path`. It does not after the file was deleted or replaced.
  func isAt(_ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor.rawValue, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino
  }

  enum Answer {
    case held(InboxLock)
    case taken
    /// The file system has no locks, or the directory cannot be written.
    case impossible
  }

  /// Tries to lock, without waiting.
  static func ask(_ path: String) -> Answer {
    guard let descriptor = open(path) else { return .impossible }
    guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 else { return .held(InboxLock(descriptor)) }
    return errno == EWOULDBLOCK ? .taken : .impossible
  }

  /// Waits for the lock on its own thread; nil if locking is impossible.
  static func wait(_ path: String) async -> InboxLock? {
    let lock = try? await DedicatedThread.run { () -> InboxLock? in
      guard let descriptor = open(path) else { return nil }
      while flock(descriptor.rawValue, LOCK_EX) != 0 { if errno != EINTR { return nil } }
      return InboxLock(descriptor)
    }
    return lock ?? nil
  }

  private static func open(_ path: String) -> FileDescriptor? {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    fchmod(descriptor, 0o600)
    return FileDescriptor(owning: descriptor)
  }
}
