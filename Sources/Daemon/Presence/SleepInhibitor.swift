package import Bus
import EventLoop

/// Holds logind's delay lock as `SleepDelay` decides.
package actor SleepInhibitor {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private let warn: @Sendable (String) -> Void
  private var delay = SleepDelay()
  /// Closing this descriptor releases the lock.
  private var lock: FileDescriptor?
  private var timer: LoopTimer?
  private var isStopped = false
  /// The last reported refusal; nil after logind has given a lock.
  private var lastRefusal: String?

  /// `connection` is to the system bus. `warn` gets messages for a person, on the loop.
  package init(_ connection: Connection, warn: @escaping @Sendable (String) -> Void) {
    self.connection = connection
    self.warn = warn
    loop = connection.loop
  }

  package func receive(_ login: LoginState) {
    handle(
      .logind(isAvailable: login.isAvailable, departures: login.departures, isSleeping: login.isSleeping))
  }

  package func setFields(areOff: Bool) { handle(.fields(areOff: areOff)) }

  /// For good.
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
        warn("a field is on though the machine goes to sleep: it is not waited for any longer")
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
        warn(
          "logind gives no delay lock, so a field may be on for a moment in sleep: \(error.message). Where "
            + "polkit says no, allow org.freedesktop.login1.inhibit-delay-sleep to the user that tagrouted runs as")
      }
      lastRefusal = error.message
      handle(.refused)
    }
  }
}

/// When to hold a delay lock of logind (org.freedesktop.login1(5), "Inhibit"). It is held while the machine is awake.
/// When the machine goes to sleep, it is released as soon as every field is off.
///
/// Pure. logind waits for the lock before it puts the machine to sleep, by default for five seconds at most
/// (`InhibitDelayMaxSec`). The lock is released after four seconds even if a field is still on: the reader behind it
/// hangs, so a longer wait is useless.
package struct SleepDelay: Sendable, Hashable {
  /// Of the machine's sleep.
  package static let limit = Duration.seconds(4)
  /// The first pause after logind refused a lock.
  static let shortestPause = Duration.seconds(30)
  /// A logind that refuses for lack of permission will most likely refuse again.
  static let longestPause = Duration.seconds(3600)

  package enum Event: Sendable, Hashable {
    /// The state of logind: whether it can be asked, how often it has left the bus, whether the machine goes to sleep.
    case logind(isAvailable: Bool, departures: Int, isSleeping: Fact)
    case fields(areOff: Bool)
    case granted
    case refused
    /// The time of the last `wait` is over.
    case tick
  }

  package enum Action: Sendable, Hashable {
    /// Ask logind for a lock, then report `granted` or `refused`. The lock that was held before is released once there
    /// is a new one.
    case ask
    case release
    /// Release every lock although a field is still on.
    case giveUp
    /// Report `tick` after this time. This replaces an earlier wait.
    case wait(Duration)
  }

  private var isAvailable = false
  private var departures = 0
  private var isSleeping = false
  private var areFieldsOff = true
  /// The logind that was asked, identified by the number of departures before it.
  private var asked: Int?
  /// The logind that gave the lock that is held.
  private var granted: Int?
  private var isPausing = false
  private var pause = Backoff(from: shortestPause, to: longestPause)

  package init() {}

  package var isHeld: Bool { granted != nil }

  package mutating func handle(_ event: Event) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .logind(let isAvailable, let departures, let isSleeping):
      let wasSleeping = self.isSleeping
      if departures != self.departures {
        isPausing = false
        pause.reset()
      }
      (self.isAvailable, self.departures, self.isSleeping) = (isAvailable, departures, isSleeping == .yes)
      if self.isSleeping, !wasSleeping {
        isPausing = false
        if isHeld, !areFieldsOff { actions.append(.wait(Self.limit)) }
      }
    case .fields(let areOff): areFieldsOff = areOff
    case .granted:
      pause.reset()
      granted = asked
      asked = nil
    case .refused:
      // While the machine goes to sleep, logind gives no lock. It is asked again after that anyway. A refusal by an
      // earlier logind does not apply to its successor.
      let isOfThisLogind = asked == departures
      asked = nil
      if !isSleeping, isOfThisLogind {
        isPausing = true
        actions.append(.wait(pause.next()))
      }
    case .tick:
      isPausing = false
      if isSleeping, isHeld {
        granted = nil
        return actions + [.giveUp]
      }
    }
    return actions + settle()
  }

  private mutating func settle() -> [Action] {
    if isSleeping, isHeld, areFieldsOff {
      granted = nil
      return [.release]
    }
    // A logind that came back may not know a lock that its predecessor gave.
    if !isSleeping, isAvailable, !isPausing, asked == nil, granted != departures {
      asked = departures
      return [.ask]
    }
    return []
  }
}
