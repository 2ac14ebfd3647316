import EventLoop
import Glibc

/// A symbolic link that gives the device the same name whatever its number, as udev does.
struct DeviceLink {
  let path: String

  /// Creates or replaces the link. Fails if a file other than a symbolic link is in the way.
  func point(to target: String) throws(SimulatorError) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK {
      throw SimulatorError("\(path) exists and is not a symbolic link: remove it, or choose another --link")
    }
    let new = "\(path).new"
    unlink(new)
    guard symlink(target, new) == 0, rename(new, path) == 0 else {
      throw SimulatorError(SystemError("make the link \(path)").description)
    }
  }

  func remove() { unlink(path) }
}
