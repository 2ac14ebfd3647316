import EventLoop
import Glibc

/// Whether a daemon ran here a moment ago, so that what lies on a reader was announced by that one.
///
/// A file without content in the service's runtime directory, which systemd keeps over a restart and takes away where the daemon is stopped
/// (`RuntimeDirectoryPreserve=restart`, systemd.exec(5)). It says nothing of tags: which ones lie there is nobody's to know.
struct RestartMark {
  private let folder: String?

  /// - Parameter folder: where the file is; nil where there is no place for it.
  init(folder: String?) { self.folder = folder }

  /// In the directory that systemd names; without one nobody knows.
  static func standard() -> RestartMark {
    // Several directories have colons between them.
    let folders = ProcessEnvironment.current["RUNTIME_DIRECTORY"]?.split(separator: ":")
    return RestartMark(folder: folders?.first.map(String.init))
  }

  /// Leaves the mark for the next daemon.
  ///
  /// - Returns: whether one before has left it.
  /// - Throws: `SystemError` where it can be neither found nor made.
  func leave() throws(SystemError) -> Bool {
    guard let folder else { return false }
    let descriptor = open("\(folder)/started", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return true }
      throw SystemError("make \(folder)/started")
    }
    close(descriptor)
    return false
  }
}
