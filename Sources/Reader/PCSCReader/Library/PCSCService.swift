import EventLoop
import Glibc
import Names
import ReaderProtocol

/// Establishes the contexts of this process, on a thread that ends with it. pcscd may make it wait, for example for a
/// decision of polkit.
final class ServiceOpening: Sendable {
  /// One context for each thread that stays.
  struct Contexts: Sendable {
    let slot: PCSCContext
    let card: PCSCContext
  }

  private let result = Locked<Result<Contexts, PCSCError>?>(nil)
  let since = SuspendingClock.now

  /// The thread sends `wake` at its end. Fails if the system has no thread left.
  init(wake: Signal) throws(SystemError) {
    try DedicatedThread.start { [self] in
      let opened = Result { () throws(PCSCError) in try Self.open() }
      result.withLock { $0 = opened }
      wake.send()
    }
  }

  private static func open() throws(PCSCError) -> Contexts {
    let slot = try PCSCContext.establish()
    do throws(PCSCError) {
      return Contexts(slot: slot, card: try PCSCContext.establish())
    } catch {
      slot.release()
      throw error
    }
  }

  /// Nil while the thread runs.
  func take() -> Result<Contexts, PCSCError>? { result.withLock { $0 } }
}

/// Why this process has no connection to pcscd.
extension PCSCProblem {
  /// For `SCardEstablishContext`.
  init(_ error: PCSCError) {
    switch error {
    case .noService:
      self.init(.noService, "pcscd does not run; start it: sudo systemctl enable --now pcscd.socket")
    case .securityViolation: self = .refusedByPolkit
    case .communication:
      self.init(
        .closed,
        "pcscd closes the connection: it ends at once, or polkit does not allow it; see journalctl -u pcscd, or "
          + Self.permission)
    case .serviceStopped:
      self.init(
        .otherVersion,
        "pcscd and libpcsclite are of different versions; restart it: sudo systemctl restart pcscd.service")
    default: self.init(.other, "pcscd cannot be used: \(error.description)")
    }
  }

  static var refusedByPolkit: PCSCProblem { PCSCProblem(.refused, "pcscd refuses the connection; " + permission) }

  /// Before the next attempt, if no event ends the problem. pcscd writes a line into the log for each connection that
  /// it refuses.
  var pause: Duration { [.refused, .closed].contains(kind) ? .seconds(60) : .seconds(30) }

  private static let permission =
    "allow the actions org.debian.pcsc-lite.access_pcsc and access_card for the user \(ReaderRemedy.owner) in polkit"
}

/// pcscd's socket, and a watch that tells when it appears. With it, a process without pcscd needs no timer.
struct ServiceSocket {
  let path: String
  /// Readable when something near the socket has changed; -1 if the system has no inotify instance left.
  let descriptor: Int32
  private var watches: Set<Int32> = []

  /// `environment` is the value of PCSCLITE_CSOCK_NAME.
  init(_ environment: String?) {
    path = environment ?? "/run/" + Names.PCSC.socket
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
  }

  /// Watches the socket's folder, or the nearest folder above it that exists. Returns whether a change will be
  /// reported.
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

  /// The descriptor stays open, and is not readable any more.
  mutating func stopWatching() {
    for watch in watches { inotify_rm_watch(descriptor, watch) }
    watches = []
    _ = drain()
  }

  /// Returns whether there were any reports.
  func drain() -> Bool {
    guard descriptor >= 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 4096)
    var hasChanged = false
    while read(descriptor, &bytes, bytes.count) > 0 { hasChanged = true }
    return hasChanged
  }

  var exists: Bool { access(path, F_OK) == 0 }
}
