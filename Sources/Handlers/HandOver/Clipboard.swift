import CShims
import EventLoop
import Glibc

/// The desktop's clipboard. Only a program with a window can offer a text, so one of the usual clipboard programs is
/// started. It reads the text from its standard input.
struct Clipboard: Sendable {
  /// The whole argument vector. The first element is the program's path.
  let arguments: [String]

  /// How long the program may take to put the text on the clipboard.
  private static let limit = Duration.seconds(5)

  /// `wl-copy` on Wayland, `xclip` or `xsel` on X11; nil if none is in `PATH`, or there is no display.
  init?(environment: [String: String]) {
    let programs = [
      ("WAYLAND_DISPLAY", ["wl-copy", "--type", "text/plain"]),
      ("DISPLAY", ["xclip", "-in", "-selection", "clipboard"]), ("DISPLAY", ["xsel", "--input", "--clipboard"]),
    ]
    for (display, arguments) in programs where environment[display]?.isEmpty == false {
      guard let program = ProcessEnvironment.program(arguments[0], in: environment) else { continue }
      self.arguments = [program] + arguments.dropFirst()
      return
    }
    return nil
  }

  /// Puts a text on the clipboard. Blocks until the program has it. A child of the program stays behind to offer the
  /// text.
  func copy(_ text: String, environment: [String: String]) -> HandOverOutcome {
    let name = String(arguments[0].split(separator: "/").last ?? "")
    do throws(SystemError) {
      let child = try DetachedProcess(
        program: arguments[0], arguments: arguments, environment: environment, workingDirectory: "/",
        input: Array(text.utf8)
      ).start()
      return Clipboard.outcome(of: child, name)
    } catch {
      return .failed(HandOverFailure(error))
    }
  }

  private static func outcome(of child: pid_t, _ name: String) -> HandOverOutcome {
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
      return .failed(HandOverFailure(.notCopied, name))
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return .unknown(HandOverDoubt(.outOfSight, name)) }
    }
    guard tagroute_exited_normally(status) != 0, tagroute_exit_code(status) == 0 else {
      return .failed(HandOverFailure(.notCopied, name))
    }
    return .delivered
  }
}
