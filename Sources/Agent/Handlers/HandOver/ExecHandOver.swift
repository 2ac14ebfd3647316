import EventLoop
import Glibc
import Routing
import Settings

/// Starts an application from the `Exec` that its desktop entry has now, not the one it had when routes were made.
struct ExecHandOver: Sendable {
  let application: Application
  let environment: [String: String]

  /// Blocks on files and until the program is loaded. Returns the process id, which the caller has to reap.
  func start(_ contents: HandOverContents) -> Result<pid_t, HandOverFailure> {
    Result { () throws(HandOverFailure) -> pid_t in try started(contents) }
  }

  /// Why the application cannot be started with any link alone, or with any file, so that it is not offered for them.
  /// Nil if no obstacle is known, as for an application that is started by its bus name. Blocks on files.
  func obstacle(to kind: HandOverContents.Kind = .link) -> HandOverFailure? {
    guard !application.isDBusActivatable else { return nil }
    do {
      _ = try startable(with: kind)
      return nil
    } catch {
      return error
    }
  }

  /// Why the application is no longer the one that was offered; nil if it is, or if that is not known. Blocks on files.
  func change() -> HandOverFailure? {
    guard !application.launch.isEmpty else { return nil }
    do {
      _ = try current()
      return nil
    } catch {
      return error
    }
  }

  private func current() throws(HandOverFailure) -> (KeyFile, DesktopEntry) {
    guard let (keyFile, entry) = try parsed() else { throw HandOverFailure(.entryMissing, application.file) }
    guard application.launch.isEmpty || application.launch == entry.application.launch else {
      throw HandOverFailure(.entryChanged, keyFile.place(of: "Exec"))
    }
    return (keyFile, entry)
  }

  /// Nil if the desktop entry is gone.
  private func parsed() throws(HandOverFailure) -> (KeyFile, DesktopEntry)? {
    do throws(HandlerProblem) {
      let file = application.file
      guard let bytes = try Files.contents(of: file) else { return nil }
      let keyFile: KeyFile
      do throws(KeyFileError) { keyFile = try KeyFile(bytes: bytes, file: file) } catch { throw HandlerProblem(error) }
      let entry = try DesktopEntry(
        keyFile, desktopID: application.desktopID, origin: application.origin,
        languages: LanguagePreference.languages(in: environment))
      return (keyFile, entry)
    } catch {
      throw HandOverFailure(.entryUnusable, error.description)
    }
  }

  private func startable(
    with kind: HandOverContents.Kind
  ) throws(HandOverFailure) -> (KeyFile, DesktopEntry, CommandLineTemplate) {
    let file = application.file
    let (keyFile, entry) = try current()
    guard let commandLine = entry.commandLine else {
      throw HandOverFailure(.noCommand, file)
    }
    guard !entry.usesTerminal else {
      throw HandOverFailure(.needsTerminal, file)
    }
    guard kind != .link || commandLine.takesLink else {
      throw HandOverFailure(
        .entryUnusable, "\(keyFile.place(of: "Exec")): Exec takes no link: it has neither %u nor %U")
    }
    return (keyFile, entry, commandLine)
  }

  private func started(_ contents: HandOverContents) throws(HandOverFailure) -> pid_t {
    let file = application.file
    let (keyFile, entry, commandLine) = try startable(with: contents.kind)
    let arguments = commandLine.filled(
      with: CommandLineTemplate.Fields(
        uri: contents.address, name: entry.application.name, icon: entry.application.icon, file: file,
        path: contents.filePath))
    guard let name = arguments.first, let program = ProcessEnvironment.program(name, in: environment) else {
      throw HandOverFailure(.programMissing, keyFile.place(of: "Exec"))
    }
    let home = environment["HOME"].flatMap { Files.isDirectory($0) ? $0 : nil } ?? "/"
    do {
      return try DetachedProcess(
        program: program, arguments: arguments, environment: environment,
        workingDirectory: entry.workingDirectory ?? home, input: contents.wholeMessage
      ).start()
    } catch {
      throw HandOverFailure(error)
    }
  }
}
