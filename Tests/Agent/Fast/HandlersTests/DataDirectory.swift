import EventLoop
import Rig
import Routing

@testable import Handlers

extension HandOverOutcome {
  /// The reason if the app got no data; nil if it got some, or may have.
  var failure: HandOverFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension HandlerScan {
  /// The handler of a link, among the entries of this scan.
  func handler(of uri: String) -> String? {
    Registry(declarations: declarations).route(for: uri).handler?.desktopID
  }
}

/// A file of path rules for one app.
func linkRules(_ components: String, id: String = "menu") -> String {
  #"{"applinks": {"details": [{"appIDs": ["\#(id)"], "components": [\#(components)]}]}}"#
}

/// Components for `linkRules`. The budget of all rules has room for them twice.
let largeRules = {
  let component = #"{"/": "\#(String(repeating: "*a", count: 1000))"}"#
  return Array(repeating: component, count: 55).joined(separator: ",")
}()

struct DataDirectory {
  let temporary: TemporaryDirectory
  let directories: DataDirectories
  /// Treats each file outside the user's directory as root's. The owner of the test process does not matter.
  var ownership: FileOwnership {
    let user = temporary.file("user")
    return FileOwnership { !$0.hasPrefix(user + "/") }
  }
  /// Independent of the machine: no language, and a `PATH` with the test's folder before the system's.
  let environment: [String: String]

  init() throws {
    temporary = try TemporaryDirectory()
    directories = DataDirectories(
      user: temporary.file("user"), system: [temporary.file("system"), temporary.file("lesser")],
      configuration: [temporary.file("config")])
    environment = ["PATH": "\(temporary.file("bin")):/usr/bin:/bin", "HOME": temporary.path]
  }

  /// Writes a desktop entry. It is valid unless `lines` or `claims` make it invalid.
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

  func scan() -> HandlerScan { HandlerScan(directories, environment: environment, ownership: ownership) }

  func registry(on loop: EventLoop, default application: Application? = nil) -> HandlerRegistry {
    HandlerRegistry(
      directories: directories, environment: environment, ownership: ownership, settling: .milliseconds(20),
      defaultApplication: { _ in application }, on: loop)
  }

  /// The registry after one reload.
  func loaded() async -> (registry: Registry, problems: [HandlerProblem]) {
    let handlers = registry(on: EventLoop(label: "test"))
    await handlers.reload()
    return (await handlers.registry, await handlers.problems)
  }
}
