import EventLoop
import Glibc

/// The desktop's clipboard. Only a program with a window can offer a text, so one of the usual clipboard programs is
/// started. It reads the text from its standard input.
struct Clipboard: Sendable {
  /// The whole argument vector. The first element is the program's path.
  let arguments: [String]

  /// For the program to put the text on the clipboard.
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

  /// Blocks until the program has the text. A child of the program stays behind to offer the text.
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
    switch DetachedProcess.end(of: child, within: limit) {
    case .succeeded: .delivered
    case .failed, .killed: .failed(HandOverFailure(.notCopied, name))
    case .outOfSight: .unknown(HandOverDoubt(.outOfSight, name))
    }
  }
}

/// The program that plays a sound of the desktop's theme: `canberra-gtk-play`, of libcanberra.
///
/// A program, because libcanberra loads drivers and decodes files, and the agent keeps the inbox.
struct SoundProgram: Sendable {
  private let program: String

  /// The sounds of a theme last a second or two.
  private static let limit = Duration.seconds(5)

  /// Nil if the program is not in `PATH`, or there is no display, without which it plays nothing.
  init?(environment: [String: String]) {
    let hasDisplay = ["WAYLAND_DISPLAY", "DISPLAY"].contains { environment[$0]?.isEmpty == false }
    guard hasDisplay, let program = ProcessEnvironment.program(Self.name, in: environment) else { return nil }
    self.program = program
  }

  /// Blocks until the sound has ended, and kills the program if that takes too long. A failure has no effect, for
  /// example if the theme has no such sound, or if there is no device for it.
  func play(_ sound: String, environment: [String: String]) {
    let process = DetachedProcess(
      program: program, arguments: [Self.name, "--id=\(sound)"], environment: environment, workingDirectory: "/",
      input: nil)
    guard let child = try? process.start() else { return }
    _ = DetachedProcess.end(of: child, within: Self.limit)
  }

  private static let name = "canberra-gtk-play"
}
