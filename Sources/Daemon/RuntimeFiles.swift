import EventLoop
import Glibc

/// Files that show which services of the machine are running.
///
/// All of them are below `/run`. `TAGROUTE_RUN` names another folder, for tests.
struct RuntimeFiles: Sendable {
  private let folder: String

  init(folder: String? = nil) {
    self.folder = folder ?? SystemDirectories().runtime
  }

  /// Whether systemd-udevd runs. Its control socket exists while it runs.
  var udevRuns: Bool { exists("udev/control") }

  /// Whether pcscd runs, or systemd starts it on demand. In both cases its socket for clients exists.
  var pcscdRuns: Bool { exists("pcscd/pcscd.comm") }

  private func exists(_ name: String) -> Bool { access("\(folder)/\(name)", F_OK) == 0 }
}
