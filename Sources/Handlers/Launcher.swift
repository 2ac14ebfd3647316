public import Bus
public import EventLoop
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
      // A token goes into an environment variable of a program that is started: short, and one word. It need not come from the
      // notification client, which has the same rule: a program on the bus may name one too.
      self.activationToken = activationToken.flatMap { token in
        (1...1024).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
      }
      self.tapID = tapID
    }
  }

  private let connection: Connection?
  private let timeout: Duration
  private let environment: [String: String]
  private let reaper: ChildReaper

  /// - Parameters:
  ///   - connection: the session bus; without it applications that are activated over D-Bus are started from their `Exec`.
  ///   - timeout: how long an application may take to start and to reply.
  ///   - environment: what started programs find in theirs, apart from what concerns this process alone.
  ///   - loop: the loop that decides.
  public init(
    connection: Connection?, timeout: Duration = .seconds(25),
    environment: [String: String] = ProcessEnvironment.current, on loop: EventLoop
  ) {
    self.connection = connection
    self.timeout = timeout
    self.environment = environment
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
  public func open(_ route: Route, message: [UInt8], click: Click = Click()) async -> HandOverOutcome {
    guard let application = route.handler, let uri = route.uri else { return .failed(reason: route.reason) }
    return await open(application, uri, message: route.handsOverMessage ? message : nil, click: click)
  }

  /// Opens a URI in an application.
  ///
  /// - Parameters:
  ///   - application: who gets it.
  ///   - uri: the URI.
  ///   - message: the whole NDEF message, encoded; nil where the application gets the URI alone.
  ///   - click: what the click brought along.
  /// - Returns: whether it was taken.
  public func open(
    _ application: Application, _ uri: URI, message: [UInt8]?, click: Click = Click()
  ) async -> HandOverOutcome {
    if application.isDBusActivatable, let connection {
      if let problem = await change(in: application) { return .failed(reason: "\(application.desktopID): \(problem)") }
      let call = BusHandOver(connection: connection, timeout: timeout, application: application)
      if let outcome = await call.deliver(uri, message: message, click: click) { return outcome }
    }
    return await start(application, uri, message: message, click: click)
  }

  /// What is in the way of speaking to an application as the one that was offered.
  private func change(in application: Application) async -> String? {
    do {
      let hand = ExecHandOver(application: application, environment: environment)
      return try await DedicatedThread.run { hand.change() }.map { "\($0)" }
    } catch {
      return "\(error)"
    }
  }

  /// Whether ``copy(_:)`` can work.
  public nonisolated var canCopy: Bool { Clipboard(environment: environment) != nil }

  /// Puts a text on the clipboard.
  ///
  /// - Parameter text: plain text without U+0000.
  /// - Returns: `failed` where no program for that is installed, or it did not take it.
  public func copy(_ text: String) async -> HandOverOutcome {
    let environment = childEnvironment(Click())
    guard let clipboard = Clipboard(environment: environment) else {
      return .failed(reason: "neither wl-copy nor xclip nor xsel is installed")
    }
    let outcome = try? await DedicatedThread.run { clipboard.copy(text, environment: environment) }
    return outcome ?? .failed(reason: "the system has no thread left")
  }

  /// Waits until every program that was started has ended and was reaped.
  func allEnded() async { await reaper.allEnded() }

  private func start(
    _ application: Application, _ uri: URI, message: [UInt8]?, click: Click
  ) async -> HandOverOutcome {
    let environment = childEnvironment(click)
    do {
      let result = try await DedicatedThread.run {
        ExecHandOver(application: application, environment: environment).start(uri, message: message)
      }
      let child = try result.get()
      await reaper.adopt(child)
      return .delivered
    } catch {
      return .failed(reason: "\(application.desktopID): \(error)")
    }
  }

  /// Ours, without what concerns this process alone, and with the token where there is one.
  private func childEnvironment(_ click: Click) -> [String: String] {
    var result = environment
    for name in [
      "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID", "TAGROUTE_LOG",
      "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID",
    ] {
      result[name] = nil
    }
    if let token = click.activationToken {
      result["XDG_ACTIVATION_TOKEN"] = token
      result["DESKTOP_STARTUP_ID"] = token
    }
    return result
  }
}
