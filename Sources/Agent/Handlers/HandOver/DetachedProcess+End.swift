import CShims
import Glibc

extension DetachedProcess {
  /// How a program has ended.
  enum End {
    case succeeded, failed
    /// It did not end in time.
    case killed
    /// Another part of this process has reaped it.
    case outOfSight
  }

  /// Waits for the end of a program and reaps it. Kills it after `limit`. Blocks.
  static func end(of child: pid_t, within limit: Duration) -> End {
    var event = pollfd(fd: tagroute_process_descriptor(child), events: Int16(POLLIN), revents: 0)
    defer { if event.fd >= 0 { close(event.fd) } }
    let deadline = ContinuousClock.now + limit
    while event.fd >= 0 {
      let rest = Int32(clamping: (deadline - .now).components.seconds * 1000)
      let count = poll(&event, 1, max(rest, 0))
      if count < 0 && errno == EINTR { continue }
      guard count == 0 else { break }
      kill(child, SIGKILL)
      _ = waitpid(child, nil, 0)
      return .killed
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return .outOfSight }
    }
    return tagroute_exited_normally(status) != 0 && tagroute_exit_code(status) == 0 ? .succeeded : .failed
  }
}
