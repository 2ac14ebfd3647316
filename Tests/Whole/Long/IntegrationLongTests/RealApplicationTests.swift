import Glibc
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// A record that opens in a real application: the viewer of ImageMagick, as packaged by Debian, on an X server without a
/// screen.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct RealApplicationTests {
  /// A colour that is on no empty screen.
  private static let colour = "#3A7F12"
  private static let size = (width: 128, height: 96)
  private static let entries = "/usr/share/applications"

  @discardableResult
  private func run(_ program: String, _ arguments: [String], display: String = "") async throws -> String {
    let result = try await ChildProcess.run(
      BuiltProducts.systemProgram(program, package: "imagemagick"), arguments,
      environment: ["DISPLAY": display, "HOME": "/nonexistent", "PATH": "/usr/bin:/bin"])
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
    return result.output
  }

  /// Waits until the whole picture is on the screen.
  private func showsPicture(_ display: String, _ folder: TemporaryDirectory) async throws {
    let file = folder.file("screen.png")
    while true {
      // The loop ends with the time limit of the test.
      try Task.checkCancellation()
      try await run("import", ["-window", "root", file], display: display)
      // Each line has a number of pixels and their colour.
      let colours = try await run("convert", [file, "-depth", "8", "-format", "%c", "histogram:info:"])
      let line = colours.split(separator: "\n").first { $0.contains(Self.colour) } ?? ""
      let count = line.split(separator: ":").first.flatMap { Int($0.drop { $0 == " " }) } ?? 0
      if count >= Self.size.width * Self.size.height { return }
    }
  }

  /// The process with an argument that begins like this.
  private func process(withArgument prefix: String) throws -> ForeignProcess {
    for name in fileNames(in: "/proc") ?? [] {
      guard let number = Int32(name), let process = try? ForeignProcess(number) else { continue }
      if process.commandLine.dropFirst().contains(where: { $0.hasPrefix(prefix) }) { return process }
    }
    throw RigError("no process has an argument that begins with \(prefix)")
  }

  @Test func `the picture on a tag is shown by the default application, which has it in a private file`() async throws {
    let screen = try await VirtualScreen()
    atEndOfTest { screen.process.signal(SIGTERM) }
    // Only the entries of the system: the application is found as on a desktop.
    let desktop = try await Desktop(environment: ["DISPLAY": screen.display, "XDG_DATA_DIRS": "/usr/share"])
    let directory = desktop.installation.directory
    let names = fileNames(in: Self.entries) ?? []
    guard let entry = names.first(where: { $0.hasPrefix("display-im") && $0.hasSuffix(".desktop") }) else {
      throw RigError("ImageMagick has no entry in \(Self.entries): apt-get install imagemagick")
    }
    // As `xdg-mime default` writes it, because another viewer may be installed.
    try directory.write("[Default Applications]\nimage/png=\(entry)\n", to: "config/mimeapps.list")
    let file = directory.file("picture.png")
    try await run(
      "convert", ["-size", "\(Self.size.width)x\(Self.size.height)", "xc:\(Self.colour)", "-strip", "png8:\(file)"])
    let picture = try readFile(file)
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: picture)

    let server = try await desktop.startWithServer()
    try await desktop.place(Tag(try Tag(1), message: try NDEFMessage(records: [record]).encoded()))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary.hasPrefix("Open in ImageMagick"))
    try await server.click(shown)
    try await showsPicture(screen.display, directory)

    let folder = directory.file("runtime/tagroute")
    let viewer = try process(withArgument: "\(folder)/")
    let path = try #require(viewer.commandLine.last)
    #expect(viewer.commandLine.first?.hasPrefix("/usr/bin/display-im") == true)
    #expect(path.hasSuffix(".png"))
    #expect(try readFile(path) == picture)
    var information = stat()
    #expect(stat(path, &information) == 0)
    #expect(information.st_mode & 0o7777 == 0o600 && information.st_uid == geteuid())
    #expect(stat(folder, &information) == 0 && information.st_mode & 0o7777 == 0o700)

    // The viewer is the user's, and stays when the agent ends. The file does not.
    let agent = try await desktop.agent
    try await agent.exit(after: SIGTERM)
    #expect(access(path, F_OK) != 0)
    #expect(!viewer.isGone)
    viewer.signal(SIGTERM)
  }
}
