import CShims
import EventLoop
import Glibc
import Journal
import Names

/// Has `tagroute handlers verify --due` ask the domains that handlers claim, once an hour.
///
/// A process of its own, so that no TLS and no HTTP of strangers is read where the inbox is, and libcurl with the thirty
/// libraries that it needs is not in memory between two questions.
struct AssociationUpdate: Sendable {
  private static let pause = Duration.seconds(3600)

  let clock: any Clock<Duration>
  let log: Log
  /// The program that asks; nil where it is not installed.
  var program = installedProgram()

  /// Runs until the task is cancelled, and the program with it.
  func run() async {
    guard let program else {
      return log(
        .warning, "\(Names.Files.commandLineProgram) is not beside this program: no domain is asked for its word")
    }
    while !Task.isCancelled {
      let code = await Self.ask(program)
      guard !Task.isCancelled else { return }
      switch code {
      case 0?: log(.info, "domains were asked for their word")
      case let code?: log(.notice, "domains were not asked for their word: \(program) ended with \(code)")
      case nil: log(.warning, "domains were not asked for their word: \(program) could not be started")
      }
      do { try await clock.sleep(for: Self.pause) } catch { return }
    }
  }

  /// - Returns: its exit code, -1 where a signal ended it; nil where it could not be started.
  private static func ask(_ program: String) async -> Int32? {
    guard let child = (try? await DedicatedThread.run { start(program) }) ?? nil else { return nil }
    // It is waited for and left unreaped until nobody can send it a signal any more: its number is nobody else's until then.
    await withTaskCancellationHandler {
      _ = try? await DedicatedThread.run { awaitEnd(of: child) }
    } onCancel: {
      kill(child, SIGTERM)
    }
    return (try? await DedicatedThread.run { reap(child) }) ?? nil
  }

  private static func start(_ program: String) -> Int32? {
    var spawn = ProcessSpawn(
      program, arguments: [program, "handlers", "verify", "--due"],
      environment: Self.environment(of: ProcessEnvironment.current))
    spawn.output = .null
    return try? spawn.start()
  }

  private static func awaitEnd(of child: Int32) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  }

  private static func reap(_ child: Int32) -> Int32? {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 { if errno != EINTR { return nil } }
    return tagroute_exited_normally(status) != 0 ? tagroute_exit_code(status) : -1
  }

  /// What it takes to find the agent, the files and the user's words, and nothing else: `NOTIFY_SOCKET` is the agent's own.
  static func environment(of own: [String: String]) -> [String] {
    let names: Set = [
      "DBUS_SESSION_BUS_ADDRESS", "HOME", "LANG", "LC_ALL", "LC_MESSAGES", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    ]
    return own.filter { names.contains($0.key) }.map { "\($0.key)=\($0.value)" }.sorted()
  }

  /// The command line that was installed or built together with this program.
  private static func installedProgram() -> String? {
    // Installed, this program is in libexec and the other in a directory of programs.
    let candidates = [OwnProgram.directory, "/usr/bin", "/usr/local/bin"].compactMap(\.self).map {
      "\($0)/\(Names.Files.commandLineProgram)"
    }
    return candidates.first { access($0, X_OK) == 0 }
  }
}
