import EventLoop

/// The program that plays a sound of the desktop's theme: `canberra-gtk-play`, of libcanberra.
///
/// A program, because libcanberra loads drivers and decodes files, and the agent keeps the inbox.
struct SoundProgram: Sendable {
  private let program: String

  /// How long it may take: the sounds of a theme last a second or two.
  private static let limit = Duration.seconds(5)

  /// Nil if the program is not in `PATH`, or there is no display, without which it plays nothing.
  init?(environment: [String: String]) {
    let hasDisplay = ["WAYLAND_DISPLAY", "DISPLAY"].contains { environment[$0]?.isEmpty == false }
    guard hasDisplay, let program = ProcessEnvironment.program(Self.name, in: environment) else { return nil }
    self.program = program
  }

  /// Plays a sound. Blocks until it has ended, and kills the program if that takes too long. A failure has no effect,
  /// for example if the theme has no such sound, or if there is no device for it.
  func play(_ sound: String, environment: [String: String]) {
    let process = DetachedProcess(
      program: program, arguments: [Self.name, "--id=\(sound)"], environment: environment, workingDirectory: "/",
      input: nil)
    guard let child = try? process.start() else { return }
    _ = DetachedProcess.end(of: child, within: Self.limit)
  }

  private static let name = "canberra-gtk-play"
}
