import CGTK
import CGTKShims
import EventLoop
import Glibc

/// Writes how long each frame of a window takes to the file in `TAGROUTE_FRAMES`, for `tagroute-bench window`.
///
/// A line is the time of CLOCK_MONOTONIC at the end of the frame, and the time that it took, both in microseconds.
enum FrameLog {
  /// Without effect if the variable is not set, or the file cannot be written.
  static func follow(_ window: Kept) {
    guard let path = getenv("TAGROUTE_FRAMES") else { return }
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    window.on("realize") { (values: SignalValues) in
      guard let widget = values.object(0),
        let clock = gtk_widget_get_frame_clock(widget.assumingMemoryBound(to: GtkWidget.self))
      else { return }
      let frames = Kept(clock)
      var begin: Int64 = 0
      frames.on("before-paint") { begin = SystemClock.monotonic }
      frames.on("after-paint") {
        let end = SystemClock.monotonic
        let line = "\(end / 1000) \((end - begin) / 1000)\n"
        _ = write(file, line, line.utf8.count)
      }
    }
  }
}
