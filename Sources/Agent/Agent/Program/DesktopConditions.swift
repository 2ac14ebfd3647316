import Bus
import EventLoop
import Journal
import Names
import Presence

/// The desktop's reports about the session, above all whether it is locked, on their way to the daemon.
actor DesktopConditions {
  /// Without a desktop there is no lock.
  private let isHeadless: Bool
  private let log: Log
  private nonisolated let loop: EventLoop
  private var desktop: DesktopMonitor?
  private var link: DaemonLink?
  /// Whether the user unlocked the session by command before there was a link to report it.
  private var isUnlockedByUser = false
  /// How long the registration waits for the desktop's state.
  private static let settling = Duration.seconds(2)

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(isHeadless: Bool, on loop: EventLoop, log: Log) {
    self.isHeadless = isHeadless
    self.loop = loop
    self.log = log
  }

  func start(_ session: Connection, followsCameras: Bool) async throws(BusError) {
    guard !isHeadless else { return }
    var options = DesktopMonitor.Options()
    options.followsCameras = followsCameras
    let desktop = DesktopMonitor(session, options: options)
    self.desktop = desktop
    try await desktop.start()
    do throws(SystemError) {
      try await desktop.startCameras()
    } catch { log(.warning, Self.noCameras(error)) }
    Task { await follow(desktop.states) }
  }

  private func follow(_ states: AsyncStream<DesktopState>) async {
    var last = ""
    for await state in states {
      let summary = state.summary
      if summary != last { log(.info, "the session: \(summary)") }
      last = summary
      await report()
    }
  }

  func setFollowsCameras(_ follows: Bool) async {
    do throws(SystemError) {
      try await desktop?.setFollowsCameras(follows)
    } catch {
      // The agent works without cameras. The next reload tries again.
      log(.warning, Self.noCameras(error))
    }
  }

  private static func noCameras(_ error: SystemError) -> String { "cannot detect whether a camera is in use: \(error)" }

  func setDisplayWanted(_ isWanted: Bool) async { await desktop?.setWanted(isWanted) }

  /// Waits for the desktop's state: the first registration reports whether the session is locked.
  func settle() async { await desktop?.settle(within: Self.settling) }

  /// On a new connection. Includes whether the session is locked.
  func firstReport() async -> DaemonRegistration.Report {
    DaemonRegistration.Report(
      conditions: await desktop?.state.report ?? [:], isUnlockedByUser: isUnlockUnreported)
  }

  func use(_ link: DaemonLink) async {
    self.link = link
    // The conditions may have changed while the connection was made.
    await report()
  }

  private func report() async {
    guard let desktop else { return }
    await link?.report(await desktop.state.report)
  }

  /// Whether a source says that the session is locked. If none can tell, the daemon's verdict decides: it sends no tap
  /// that was read behind a lock.
  func isLocked() async -> Bool {
    guard let desktop else { return !isHeadless }
    return await desktop.state.report[Names.Condition.locked] ?? false
  }

  /// Reports the command to the daemon, too.
  func declare(locked: Bool) async throws(BusError) {
    guard !isHeadless else {
      throw BusError(name: Names.Errors.notPossible, message: "a headless agent has no screen that could be locked")
    }
    guard let desktop else { return }
    await desktop.declare(locked: locked)
    let conditions = await desktop.state.report
    guard let link else {
      isUnlockedByUser = !locked
      return
    }
    try await link.declare(isLocked: locked, conditions)
  }

  /// Whether the user has unlocked the session by command, and no daemon knows it, for example because a link failed.
  private var isUnlockUnreported: Bool {
    // The link runs on this event loop.
    link?.assumeIsolated { $0.registration.desired.isUnlockedByUser } ?? isUnlockedByUser
  }
}
