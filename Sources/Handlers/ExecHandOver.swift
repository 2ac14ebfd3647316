import EventLoop
import Glibc
import KeyFile
import Routing
import UniversalLinks

/// Starts an application from the `Exec` of its desktop entry as that is now, not as it was when routes were made.
struct ExecHandOver: Sendable {
  let application: Application
  let environment: [String: String]

  /// Starts it. Blocks on files and until the program is loaded.
  ///
  /// - Returns: the process id, the caller's to reap.
  func start(_ uri: URI, message: [UInt8]?) -> Result<pid_t, HandlerProblem> {
    Result { () throws(HandlerProblem) -> pid_t in try started(uri, message: message) }
  }

  /// Why it could not be started whatever the link, so that it is not offered; nil where nothing is known to be in the way,
  /// as with one that is started by its bus name. Blocks on files.
  func obstacle() -> HandlerProblem? {
    guard !application.isDBusActivatable else { return nil }
    do {
      _ = try startable()
      return nil
    } catch {
      return error
    }
  }

  /// Why it is no longer what was offered; nil where it is, and where that is not known. Blocks on files.
  func change() -> HandlerProblem? {
    guard !application.launch.isEmpty else { return nil }
    do {
      _ = try current()
      return nil
    } catch {
      return error
    }
  }

  /// What its desktop entry says now.
  private func current() throws(HandlerProblem) -> (KeyFile, DesktopEntry) {
    let file = application.file
    guard let bytes = try Files.contents(of: file) else {
      throw HandlerProblem(file: file, message: "is no longer there")
    }
    let keyFile: KeyFile
    do {
      keyFile = try KeyFile(bytes: bytes, file: file)
    } catch {
      throw HandlerProblem(error)
    }
    let entry = try DesktopEntry(
      keyFile, desktopID: application.desktopID, origin: application.origin,
      languages: LanguagePreference.languages(in: environment))
    guard application.launch.isEmpty || application.launch == entry.application.launch else {
      throw keyFile.problem("Exec", "it starts something else than when the link was offered")
    }
    return (keyFile, entry)
  }

  /// What its desktop entry says now, where that can be started.
  private func startable() throws(HandlerProblem) -> (KeyFile, DesktopEntry, CommandLineTemplate) {
    let file = application.file
    let (keyFile, entry) = try current()
    guard let commandLine = entry.commandLine else {
      throw HandlerProblem(file: file, message: "has no Exec, and the application cannot be reached over D-Bus")
    }
    guard !entry.usesTerminal else {
      throw HandlerProblem(file: file, message: "needs a terminal, which a tag does not open")
    }
    return (keyFile, entry, commandLine)
  }

  private func started(_ uri: URI, message: [UInt8]?) throws(HandlerProblem) -> pid_t {
    let file = application.file
    let (keyFile, entry, commandLine) = try startable()
    let arguments = commandLine.filled(
      with: CommandLineTemplate.Fields(
        uri: uri.string, name: entry.application.name, icon: entry.application.icon, file: file))
    guard let name = arguments.first, let program = ProcessEnvironment.program(name, in: environment) else {
      throw keyFile.problem("Exec", "the program of Exec is not installed")
    }
    let home = environment["HOME"].flatMap { Files.isDirectory($0) ? $0 : nil } ?? "/"
    do {
      return try DetachedProcess(
        program: program, arguments: arguments, environment: environment,
        workingDirectory: entry.workingDirectory ?? home, input: message
      ).start()
    } catch {
      throw HandlerProblem(file: file, message: error.description)
    }
  }
}
