public import Bus
public import EventLoop
import Glibc
import Names
public import Routing
public import UniversalLinks

/// Hands a tap over to an application.
///
/// A handler gets the whole NDEF message, over D-Bus (`org.tagroute.Handler1`) or on its standard input; a default
/// application gets the URI alone. Nothing is ever given to a shell.
public actor Launcher {
  /// The loop that decides.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// What a person's click brought along.
  public struct Click: Sendable, Hashable {
    /// The xdg-activation token, where the desktop gave one.
    public var activationToken: String?
    /// The tap's id, a UUID.
    public var tapID: String?

    /// - Parameters:
    ///   - activationToken: the xdg-activation token, where the desktop gave one.
    ///   - tapID: the tap's id, a UUID.
    public init(activationToken: String? = nil, tapID: String? = nil) {
      // It goes into an environment variable of a program that is started, and need not come from the notification client: a program
      // on the bus may name one too.
      self.activationToken = activationToken.flatMap { Names.Handler.isActivationToken($0) ? $0 : nil }
      self.tapID = tapID
    }
  }

  private let connection: Connection?
  private let patience: Duration
  private let limit: Duration
  private let environment: [String: String]
  private let report: @Sendable (String) -> Void
  private let reaper: ChildReaper

  /// - Parameters:
  ///   - connection: the session bus; without it applications that are activated over D-Bus are started from their `Exec`.
  ///   - patience: how long a hand-over waits for an application to start and to reply.
  ///   - limit: how long the answer to a call is taken at all.
  ///   - environment: what started programs find in theirs, apart from what concerns this process alone.
  ///   - loop: the loop that decides.
  ///   - report: is given a line for the log where systemd does not take a program that was started.
  public init(
    connection: Connection?, patience: Duration = .seconds(25), limit: Duration = .seconds(300),
    environment: [String: String] = ProcessEnvironment.current, on loop: EventLoop,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.connection = connection
    self.patience = patience
    self.limit = limit
    self.environment = environment
    self.report = report
    self.loop = loop
    reaper = ChildReaper(on: loop)
  }

  /// Opens what a route leads to.
  ///
  /// - Parameters:
  ///   - route: the decision.
  ///   - message: the whole NDEF message, encoded. A default application does not get it.
  ///   - click: what the click brought along.
  /// - Returns: `failed` for a route that leads nowhere.
  public func open(_ route: Route, message: [UInt8], click: Click = Click()) async -> HandOver {
    guard let application = route.handler, let uri = route.uri else {
      return HandOver(outcome: .failed(HandOverFailure(.nowhere, route.reason)))
    }
    return await open(application, uri, message: route.handsOverMessage ? message : nil, click: click)
  }

  /// Opens a URI in an application.
  ///
  /// - Parameters:
  ///   - application: who gets it.
  ///   - uri: the URI.
  ///   - message: the whole NDEF message, encoded; nil where the application gets the URI alone.
  ///   - click: what the click brought along.
  /// - Returns: whether it was taken, as soon as that is known, and no later than the launcher's patience lasts.
  public func open(
    _ application: Application, _ uri: URI, message: [UInt8]?, click: Click = Click()
  ) async -> HandOver {
    let task = Task { await handOver(to: application, uri, message: message, click: click) }
    return await PendingAnswer(task, on: loop).handOver(within: patience)
  }

  /// Waits once more, as long as for a new hand-over.
  ///
  /// - Parameter answer: the answer that has not come.
  /// - Returns: the last word, or that there is none yet.
  public func wait(for answer: PendingAnswer) async -> HandOver { await answer.handOver(within: patience) }

  private func handOver(
    to application: Application, _ uri: URI, message: [UInt8]?, click: Click
  ) async -> HandOverOutcome {
    if application.isDBusActivatable, let connection {
      if let change = await change(in: application) { return .failed(change) }
      let call = BusHandOver(connection: connection, timeout: limit, application: application)
      if let outcome = await call.deliver(uri, message: message, click: click) { return outcome }
    }
    return await start(application, uri, message: message, click: click)
  }

  /// What is in the way of speaking to an application as the one that was offered.
  private func change(in application: Application) async -> HandOverFailure? {
    do throws(SystemError) {
      let hand = ExecHandOver(application: application, environment: environment)
      return try await DedicatedThread.run { hand.change() }
    } catch {
      return HandOverFailure(error)
    }
  }

  /// Whether ``copy(_:)`` can work. Blocks on files: a directory of `PATH` may be on a file system that does not answer.
  public nonisolated var canCopy: Bool { Clipboard(environment: environment) != nil }

  /// Puts a text on the clipboard.
  ///
  /// - Parameter text: plain text without U+0000.
  /// - Returns: `failed` where no program for that is installed, or it did not take it.
  public func copy(_ text: String) async -> HandOverOutcome {
    let environment = childEnvironment(Click())
    do throws(SystemError) {
      return try await DedicatedThread.run {
        Clipboard(environment: environment)?.copy(text, environment: environment)
          ?? .failed(HandOverFailure(.noClipboard))
      }
    } catch {
      return .failed(HandOverFailure(error))
    }
  }

  /// Waits until every program that was started has ended and was reaped.
  func allEnded() async { await reaper.allEnded() }

  private func start(
    _ application: Application, _ uri: URI, message: [UInt8]?, click: Click
  ) async -> HandOverOutcome {
    let environment = childEnvironment(click)
    let result: Result<pid_t, HandOverFailure>
    do throws(SystemError) {
      result = try await DedicatedThread.run {
        ExecHandOver(application: application, environment: environment).start(uri, message: message)
      }
    } catch {
      return .failed(HandOverFailure(error))
    }
    switch result {
    case .success(let child):
      await adopt(child, of: application)
      return .delivered
    case .failure(let failure): return .failed(failure)
    }
  }

  /// The application has what it was to get: nothing waits for systemd.
  private func adopt(_ child: pid_t, of application: Application) async {
    guard let connection else { return await reaper.adopt(child) }
    let scope = ApplicationScope(application: application, child: child)
    await reaper.adopt(child) { [report] in
      do throws(BusError) {
        try await scope.start(on: connection)
      } catch  where error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner {
        // A session without systemd: it leads a session of its own, and nobody keeps units.
      } catch {
        report("\(application.desktopID) has no scope of its own: systemd said \(error.name)")
      }
    }
  }

  /// Whether a variable concerns this process alone: what systemd tells a service of itself (systemd.exec(5), "Environment Variables Set or
  /// Propagated by the Service Manager"), what the bus tells whom it starts, the click of our own start, and where our tests have us look.
  /// `JOURNAL_STREAM` is about the standard output that a program shares with us.
  private static func isOurs(_ name: String) -> Bool {
    name.hasPrefix("LISTEN_") || name.hasPrefix("DBUS_STARTER_") || ourVariables.contains(name)
  }

  private static let ourVariables: Set<String> = [
    "CREDENTIALS_DIRECTORY", "DESKTOP_STARTUP_ID", "FDSTORE", "INVOCATION_ID", "MANAGERPID", "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "TAGROUTE_DEV", "TAGROUTE_LOCALE", "TAGROUTE_LOG",
    "TAGROUTE_PROC", "TAGROUTE_RUN", "TAGROUTE_SYS", "WATCHDOG_PID", "WATCHDOG_USEC", "XDG_ACTIVATION_TOKEN",
  ]

  /// Ours, without what concerns this process alone, and with the token where there is one.
  private func childEnvironment(_ click: Click) -> [String: String] {
    var result = environment
    for name in result.keys where Self.isOurs(name) { result[name] = nil }
    if let token = click.activationToken {
      result["XDG_ACTIVATION_TOKEN"] = token
      result["DESKTOP_STARTUP_ID"] = token
    }
    return result
  }
}
