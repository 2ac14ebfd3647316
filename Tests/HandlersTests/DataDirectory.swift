import EventLoop
import Routing
import TestSupport

@testable import Handlers

/// A user's and a system's data directory of a test's own.
struct DataDirectory {
  let temporary: TemporaryDirectory
  let directories: DataDirectories
  /// Root's is what is not the user's, whoever runs the test.
  var ownership: FileOwnership {
    let user = temporary.file("user")
    return FileOwnership { !$0.hasPrefix(user + "/") }
  }
  /// Nothing of the machine: no language, and a `PATH` of the test's own with the system's behind it.
  let environment: [String: String]

  init() throws {
    temporary = try TemporaryDirectory()
    directories = DataDirectories(
      user: temporary.file("user"), system: [temporary.file("system"), temporary.file("lesser")],
      configuration: [temporary.file("config")])
    environment = ["PATH": "\(temporary.file("bin")):/usr/bin:/bin", "HOME": temporary.path]
  }

  /// Writes a desktop entry that is right but for what `lines` say.
  @discardableResult
  func entry(
    _ id: String, in directory: String = "system", _ lines: [String] = ["Exec=true %u"],
    claims: [String] = ["Domains=menu.example.com;"], implements: Bool = true
  ) throws -> String {
    var text = ["[Desktop Entry]", "Type=Application", "Name=\(id)"]
    if implements { text.append("Implements=org.tagroute.Handler1;") }
    text += lines
    if !claims.isEmpty { text += ["[org.tagroute.Handler1]"] + claims }
    return try temporary.write(text.joined(separator: "\n") + "\n", to: "\(directory)/applications/\(id).desktop")
  }

  func registry(on loop: EventLoop, default application: Application? = nil) -> HandlerRegistry {
    HandlerRegistry(
      directories: directories, environment: environment, ownership: ownership, settling: .milliseconds(20),
      defaultApplication: { _ in application }, on: loop)
  }

  /// The registry after a single look.
  func loaded() async -> (registry: Registry, problems: [HandlerProblem]) {
    let handlers = registry(on: EventLoop(label: "test"))
    await handlers.reload()
    return (await handlers.registry, await handlers.problems)
  }
}
