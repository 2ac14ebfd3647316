import CShims
import EventLoop
import Glibc
import Journal
import Names

/// Runs `tagroute handlers verify --due` once an hour, which asks the domains that handlers claim.
///
/// It is a separate process, so that the process with the inbox does not parse TLS and HTTP from other machines. Also,
/// libcurl with its thirty libraries is in memory only during a verification.
struct AssociationUpdate: Sendable {
  private static let pause = Duration.seconds(3600)

  let clock: any Clock<Duration>
  let log: Log
  /// Nil if the program is not installed.
  var program = installedProgram()

  /// Runs until the task is cancelled, which also ends the program.
  func run() async {
    guard let program else {
      return log(
        .warning, "\(Names.Files.commandLineProgram) is not installed beside this program: domains are not verified")
    }
    while !Task.isCancelled {
      let code = await Self.ask(program)
      guard !Task.isCancelled else { return }
      switch code {
      case 0?: log(.info, "domains were verified")
      case let code?: log(.notice, "domains were not verified: \(program) exited with \(code)")
      case nil: log(.warning, "domains were not verified: \(program) could not be started")
      }
      do { try await clock.sleep(for: Self.pause) } catch { return }
    }
  }

  /// The exit code, -1 if a signal ended the program; nil if it could not be started.
  private static func ask(_ program: String) async -> Int32? {
    guard let child = (try? await DedicatedThread.run { start(program) }) ?? nil else { return nil }
    // Reap the child only after the last possible signal. No other process gets its number before it is reaped.
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

  /// The variables that the program needs. `NOTIFY_SOCKET` is not among them: it belongs to the agent.
  static func environment(of own: [String: String]) -> [String] {
    let names: Set = [
      "DBUS_SESSION_BUS_ADDRESS", "HOME", "LANG", "LC_ALL", "LC_MESSAGES", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    ]
    return own.filter { names.contains($0.key) }.map { "\($0.key)=\($0.value)" }.sorted()
  }

  /// The command line tool that was installed or built with this program.
  private static func installedProgram() -> String? {
    // This program is installed in libexec, and the tool in a directory of `PATH`.
    let candidates = [OwnProgram.directory, "/usr/bin", "/usr/local/bin"].compactMap(\.self).map {
      "\($0)/\(Names.Files.commandLineProgram)"
    }
    return candidates.first { access($0, X_OK) == 0 }
  }
}
