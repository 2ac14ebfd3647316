import EventLoop
import Glibc

/// Held while the inbox's file is open, so that one process writes it: two agents, on two session buses of one user, would each show and
/// hand over what the other has stored.
///
/// A lock of the open file (`flock`), on a file beside the database: the kernel lets it go with the process, however that ends.
final class InboxLock: Sendable {
  let descriptor: FileDescriptor

  private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Between `fork` and `exec` a child of this process has the open file too, so that closing it does not end the lock.
  deinit { flock(descriptor.rawValue, LOCK_UN) }

  /// Whether another process that asks for the lock at `path` meets this one. It does not if the file was deleted or replaced.
  func isAt(_ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor.rawValue, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino
  }

  /// What came of asking for it.
  enum Answer {
    case held(InboxLock)
    /// Another process has it.
    case taken
    /// There are no locks here: a file system without them, a directory that cannot be written.
    case impossible
  }

  /// Asks for it.
  static func ask(_ path: String) -> Answer {
    guard let descriptor = open(path) else { return .impossible }
    guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 else { return .held(InboxLock(descriptor)) }
    return errno == EWOULDBLOCK ? .taken : .impossible
  }

  /// Waits for it, on a thread of its own; nil where it cannot be had.
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
