import Glibc
import Names

/// pcscd's socket, and a watch that tells when it appears. With it, a process without pcscd needs no timer.
struct ServiceSocket {
  /// The path of the socket.
  let path: String
  /// Readable when something near the socket has changed; -1 if the system has no inotify instance left.
  let descriptor: Int32
  private var watches: Set<Int32> = []

  /// `environment` is the value of PCSCLITE_CSOCK_NAME.
  init(_ environment: String?) {
    path = environment ?? "/run/" + Names.PCSC.socket
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
  }

  /// Watches the socket's folder, or the nearest folder above it that exists. Returns whether a change will be reported.
  mutating func watch() -> Bool {
    guard descriptor >= 0 else { return false }
    var folder = path
    // pcscd creates the socket first, then lets other users connect.
    let changes = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
    while let end = folder.lastIndex(of: "/") {
      folder = String(folder[..<end])
      let watch = inotify_add_watch(descriptor, folder.isEmpty ? "/" : folder, changes)
      if watch >= 0 {
        watches.insert(watch)
        return true
      }
    }
    return false
  }

  /// Ends the watch. The descriptor stays open, and is not readable any more.
  mutating func stopWatching() {
    for watch in watches { inotify_rm_watch(descriptor, watch) }
    watches = []
    _ = drain()
  }

  /// Discards the reports so far. Returns whether there were any.
  func drain() -> Bool {
    guard descriptor >= 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 4096)
    var hasChanged = false
    while read(descriptor, &bytes, bytes.count) > 0 { hasChanged = true }
    return hasChanged
  }

  /// Whether the socket is there.
  var exists: Bool { access(path, F_OK) == 0 }
}
