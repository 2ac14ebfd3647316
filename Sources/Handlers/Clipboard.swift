import CShims
import EventLoop
import Glibc

/// The desktop's clipboard, which only a program with a window can offer: one of those that are made for that is started, and
/// gets the text on its standard input.
struct Clipboard: Sendable {
  /// The whole argument vector, the program's path first.
  let arguments: [String]

  /// How long the program may take until what it was given is on the clipboard.
  private static let limit = Duration.seconds(5)

  /// `wl-copy` on Wayland, `xclip` or `xsel` on X11; nil where none is installed, or there is no display.
  ///
  /// - Parameter environment: `PATH`, `WAYLAND_DISPLAY` and `DISPLAY` count.
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

  /// Puts a text there. Blocks until the program has it: what stays behind to offer it is a child of that one.
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
