import EventLoop
import Glibc

/// Files by which other services of the machine say that they run.
///
/// All of them are below one folder, `/run`, or what `TAGROUTE_RUN` names instead, so that a test can say who runs.
struct RuntimeFiles: Sendable {
  private let folder: String

  init(folder: String? = nil) {
    self.folder = folder ?? SystemDirectories().runtime
  }

  /// systemd-udevd listens at its control socket as long as it runs.
  var udevRuns: Bool { exists("udev/control") }

  /// pcscd's socket for its clients, which systemd keeps open for it where it starts it on demand.
  var pcscdRuns: Bool { exists("pcscd/pcscd.comm") }

  private func exists(_ name: String) -> Bool { access("\(folder)/\(name)", F_OK) == 0 }
}
