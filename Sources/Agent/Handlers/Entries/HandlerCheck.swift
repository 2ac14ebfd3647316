import EventLoop
import Glibc
import Names
package import Routing
package import Settings
import UniversalLinks

/// Checks a file for its author before it is installed.
package enum HandlerCheck {
  /// Checks one file. A path that ends in `.desktop` is a desktop entry, which is checked with the file of path rules
  /// that it names. Any other path is a file of path rules. Blocks on files. Returns the errors, and the parts without
  /// effect; empty if all is well.
  package static func problems(
    in path: String, environment: [String: String] = ProcessEnvironment.current
  ) -> [HandlerProblem] {
    // Problems show a relative path as it was given. A bare name gets `./`, so that files the entry names are found
    // beside it.
    let path = path.contains("/") ? path : "./" + path
    guard access(path, F_OK) == 0 else {
      return [HandlerProblem(file: path, message: String(cString: strerror(errno)))]
    }
    guard path.hasSuffix(".desktop") else { return LinkRules(path: path).problems() }
    return HandlerScan(checking: path, id: id(of: path), environment: environment).problems
  }

  /// The desktop file id: the path below the directory of desktop entries, with `-` for `/` (Desktop Entry
  /// Specification, "Desktop File ID"). Elsewhere, it is the name of the file.
  static func id(of path: String) -> String {
    let parts = path.split(separator: "/")
    let start = parts.dropLast().lastIndex(of: "applications").map { $0 + 1 } ?? parts.count - 1
    return parts[max(start, 0)...].joined(separator: "-")
  }
}

/// Checks the parts of an app other than its desktop entry.
extension HandlerCheck {
  /// Checks whether the program that a handler's entry starts is installed. That is the program of its `Exec`. With
  /// `DBusActivatable`, it is the service file that lets the session bus start the app, and the program in that file.
  /// Blocks on files.
  ///
  /// A missing program is not a mistake in the entry, and the app is still offered. The program may be installed later,
  /// and a running program may own the bus name without a service file.
  ///
  /// The service file may lie beside the entry, if neither is installed yet. Without `id`, the path gives the desktop
  /// file id. The agent's `PATH` and directories of service files may differ from those in `environment`. Returns nil
  /// if no part is missing, or if the entry cannot be read.
  package static func missing(
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
    // If the bus cannot start the app, the hand-over falls back to the program.
    let program = entry.commandLine?.program
    let isFlatpaks = file.entry(DesktopEntry.group, DataDirectories.flatpakKey) != nil
    if let program, ProcessEnvironment.program(program, in: environment) != nil {
      // Flatpak writes an Exec into an entry that has none. It has no place for the link.
      guard isFlatpaks, entry.application.isDBusActivatable, entry.commandLine?.takesLink == false else { return nil }
      var problem = file.problem(
        "DBusActivatable",
        "no service file with Name=\(name) lets the bus start it, and Exec takes no link: install \(name).service into "
          + "/app/share/dbus-1/services of the Flatpak")
      problem.desktopID = id
      return problem
    }
    var words: [String] = []
    if entry.application.isDBusActivatable, isFlatpaks {
      words.append(
        "no service file with Name=\(name) lets the bus start it: install \(name).service into "
          + "/app/share/dbus-1/services of the Flatpak")
    } else if entry.application.isDBusActivatable {
      words.append(
        "no service file with Name=\(name) lets the bus start it: install \(name).service into dbus-1/services of a directory in XDG_DATA_DIRS, or into "
          + "~/.local/share/dbus-1/services")
    }
    if let program { words.append("\(absence(of: program)), which Exec starts: install it, or name its path") }
    var problem = file.problem(program == nil ? "DBusActivatable" : "Exec", words.joined(separator: "; "))
    problem.desktopID = id
    return problem
  }

  /// The programs that a rule starts and the apps that it names, if they are not installed. As for a handler, that is no
  /// mistake in the file: the rule holds, and the agent's environment may differ. Blocks on files.
  package static func missing(
    for rule: TapRule, environment: [String: String] = ProcessEnvironment.current
  ) -> [KeyFileError] {
    func warning(_ problem: String, _ remedy: String) -> KeyFileError {
      KeyFileError(file: rule.file, line: rule.line, problem: problem, remedy: remedy)
    }
    var programs: [(key: String, program: String)] = []
    if case .run(let arguments) = rule.action { programs.append(("Run", arguments.first ?? "")) }
    if let program = rule.onRemove.first { programs.append(("OnRemove", program)) }
    programs.removeAll { ProcessEnvironment.program($0.program, in: environment) != nil }
    let installed = InstalledApplications(
      directories: DataDirectories(environment: environment), environment: environment)
    var apps: [(key: String, id: String)] = []
    if case .open(let id) = rule.action { apps.append(("Open", id)) }
    for case .handler(let id) in rule.conditions { apps.append(("Handler", id)) }
    apps.removeAll { installed.contains($0.id) }
    return programs.map { key, program in
      warning(
        "\(absence(of: program)), which \(key)= of the rule “\(rule.name)” starts", "install it, or name its path")
    }
      + apps.map { key, id in
        warning(
          "there is no app \(AppID.text(id)), which \(key)= of the rule “\(rule.name)” names",
          "install it, or write the id of another one")
      }
  }

  static func absence(of program: String) -> String {
    guard program.contains("/") else { return "no directory in PATH has the program \(program)" }
    return access(program, F_OK) == 0 ? "\(program) is not an executable file" : "there is no program \(program)"
  }

  /// The file's `Name` decides, not its file name (D-Bus specification, "Message Bus Starting Services"). Nil if there
  /// is none.
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

  /// Nil if the file is not a service file.
  private static func busName(in service: String) -> String? {
    guard let bytes = try? Files.contents(of: service), let file = try? KeyFile(bytes: bytes, file: service) else {
      return nil
    }
    return try? file.text("Name", in: serviceGroup)
  }

  /// Nil if the program of the service file is installed. A command with quotes or backslashes is not checked, because
  /// only the bus parses them.
  private static func missing(in service: String, id: String) -> HandlerProblem? {
    guard let bytes = try? Files.contents(of: service),
      let file = try? KeyFile(bytes: bytes, file: service),
      let command = try? file.text("Exec", in: serviceGroup),
      let program = command.split(separator: " ").first.map(String.init), program.hasPrefix("/"),
      !program.contains(where: { "\"'\\".contains($0) }), access(program, X_OK) != 0
    else { return nil }
    var problem = file.problem(
      "Exec", in: serviceGroup, "\(absence(of: program)), which the bus starts for \(AppID.text(id)): install it")
    problem.desktopID = id
    return problem
  }
}
