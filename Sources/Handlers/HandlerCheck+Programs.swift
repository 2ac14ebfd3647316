public import EventLoop
import Glibc
import KeyFile
import Names
import Routing

/// What an app consists of besides its desktop entry.
extension HandlerCheck {
  /// Looks whether there is what a handler's entry starts: the program of its `Exec`, or, for one with `DBusActivatable`, the service
  /// file by which the session's bus starts it, with the program that this names. Blocks on files.
  ///
  /// It is nothing that is wrong with the entry, and it is offered all the same: its program may come later, and a program may take the
  /// bus name without a service file as long as it runs.
  ///
  /// - Parameters:
  ///   - path: the desktop entry. Its service file may lie beside it, where neither is installed yet.
  ///   - id: its desktop file id; nil to tell it by the path.
  ///   - environment: for `PATH` and the directories of service files. The agent's own may be another.
  /// - Returns: what is missing; nil where nothing is, and where the entry is none that can be read.
  public static func missing(
    for path: String, id: String? = nil, environment: [String: String] = ProcessEnvironment.current
  ) -> HandlerProblem? {
    let path = path.contains("/") ? path : "./" + path
    let id = id ?? Self.id(of: path)
    guard path.hasSuffix(".desktop"), let bytes = try? Files.contents(of: path),
      let file = try? KeyFile(bytes: bytes, file: path),
      let entry = try? DesktopEntry(file, desktopID: id, origin: .user, languages: [])
    else { return nil }
    let name = String(id.dropLast(".desktop".count))
    if entry.application.isDBusActivatable, let service = service(name, beside: path, environment) {
      return missing(in: service, id: id)
    }
    // The hand-over goes back to the program where the bus cannot start the app.
    let program = entry.commandLine?.program
    if let program, ProcessEnvironment.program(program, in: environment) != nil { return nil }
    var words: [String] = []
    if entry.application.isDBusActivatable {
      words.append(
        "no service file with Name=\(name) lets the bus start it: install \(name).service into dbus-1/services of a directory in XDG_DATA_DIRS, or into "
          + "~/.local/share/dbus-1/services")
    }
    if let program { words.append("\(absence(of: program)), which Exec starts: install it, or name its path") }
    var problem = file.problem(program == nil ? "DBusActivatable" : "Exec", words.joined(separator: "; "))
    problem.desktopID = id
    return problem
  }

  private static func absence(of program: String) -> String {
    program.contains("/") ? "there is no program \(program)" : "no directory in PATH has the program \(program)"
  }

  /// The service file by which the bus starts an app: the one that names it, whatever the file itself is called (D-Bus specification,
  /// "Message Bus Starting Services"); nil where there is none.
  private static func service(_ name: String, beside entry: String, _ environment: [String: String]) -> String? {
    let folder = entry.lastIndex(of: "/").map { String(entry[..<$0]) } ?? "."
    let places = DataDirectories(environment: environment)
    let data = [places.user, environment["XDG_RUNTIME_DIR"]].compactMap(\.self) + places.system
    let folders = data.map { "\($0)/dbus-1/services" } + [folder, "\(folder)/../dbus-1/services"]
    for folder in folders {
      let usual = "\(folder)/\(name).service"
      if busName(in: usual) == name { return usual }
      let files = (FileContents.names(inDirectory: folder, atMost: mostServices) ?? []).sorted()
      for file in files where file.hasSuffix(".service") && busName(in: "\(folder)/\(file)") == name {
        return "\(folder)/\(file)"
      }
    }
    return nil
  }

  /// More than any system has.
  private static let mostServices = 4096
  private static let serviceGroup = "D-BUS Service"

  /// Whom the bus starts by a service file; nil where it is none.
  private static func busName(in service: String) -> String? {
    guard let bytes = try? Files.contents(of: service), let file = try? KeyFile(bytes: bytes, file: service) else {
      return nil
    }
    return try? file.text("Name", in: serviceGroup)
  }

  /// What a service file starts, where that can be told: the bus takes its quotes apart, which is not done here.
  private static func missing(in service: String, id: String) -> HandlerProblem? {
    guard let bytes = try? Files.contents(of: service),
      let file = try? KeyFile(bytes: bytes, file: service),
      let command = try? file.text("Exec", in: serviceGroup),
      let program = command.split(separator: " ").first.map(String.init), program.hasPrefix("/"),
      !program.contains(where: { "\"'\\".contains($0) }), access(program, X_OK) != 0
    else { return nil }
    var problem = file.problem(
      "Exec", in: serviceGroup, "\(absence(of: program)), which the bus starts for \(id): install it")
    problem.desktopID = id
    return problem
  }
}
