package import Bus
import EventLoop

/// Holds logind's delay lock as `SleepDelay` decides.
package actor SleepInhibitor {
  /// The loop of the connection.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private let report: @Sendable (String) -> Void
  private var delay = SleepDelay()
  /// Closing this descriptor releases the lock.
  private var lock: FileDescriptor?
  private var timer: LoopTimer?
  private var isStopped = false
  /// The reason that was last reported, when logind gave no lock.
  private var lastRefusal: String?

  /// Uses a connection to the system bus. `report` gets messages for a person, on the loop.
  package init(_ connection: Connection, report: @escaping @Sendable (String) -> Void) {
    self.connection = connection
    self.report = report
    loop = connection.loop
  }

  /// Processes a new state of logind.
  package func receive(_ login: LoginState) {
    handle(
      .logind(isAvailable: login.isAvailable, departures: login.departures, isSleeping: login.isSleeping))
  }

  /// Sets whether every field is off.
  package func setFields(areOff: Bool) { handle(.fields(areOff: areOff)) }

  /// Releases the lock for good.
  package func stop() {
    isStopped = true
    timer?.cancel()
    lock = nil
  }

  private func handle(_ event: SleepDelay.Event) {
    guard !isStopped else { return }
    for action in delay.handle(event) {
      switch action {
      case .ask: Task { await ask() }
      case .release: lock = nil
      case .giveUp:
        lock = nil
        report("a field is on though the machine goes to sleep: it is not waited for any longer")
      case .wait(let duration):
        timer?.cancel()
        timer = loop.schedule(after: duration) { [weak self] in self?.assumeIsolated { $0.handle(.tick) } }
      }
    }
  }

  private func ask() async {
    do throws(BusError) {
      let reply = try await connection.call(
        "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit",
        [.string("sleep"), .string("Tagroute"), .string("Switching the field of NFC readers off"), .string("delay")],
        timeout: .seconds(5), autoStart: false)
      guard let descriptor = reply.first?.asUnixFD else { throw .failed("logind gave no descriptor") }
      guard !isStopped else { return }
      lock = descriptor
      lastRefusal = nil
      handle(.granted)
    } catch {
      // Report each reason once: a logind that never gives a lock would fill the log.
      if !isStopped, lastRefusal != error.message {
        report(
          "logind gives no delay lock, so a field may be on for a moment in sleep: \(error.message). Where "
            + "polkit says no, allow org.freedesktop.login1.inhibit-delay-sleep to the user that tagrouted runs as")
      }
      lastRefusal = error.message
      handle(.refused)
    }
  }
}
