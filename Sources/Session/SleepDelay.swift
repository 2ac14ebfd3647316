public import ScanGate

/// When to keep the machine awake for a moment: a delay lock of logind's (org.freedesktop.login1(5), "Inhibit"), held as long
/// as the machine is awake, and let go on its way to sleep as soon as every field is off.
///
/// Pure. logind waits for the lock before it puts the machine to sleep, five seconds at most where it is not told otherwise
/// (`InhibitDelayMaxSec`). A field that does not go off in four is not waited for: the reader behind it hangs, and logind
/// would wait for nothing.
public struct SleepDelay: Sendable, Hashable {
  /// How long the machine's sleep is put off at most.
  public static let limit = Duration.seconds(4)
  /// The pause after logind gave no lock; doubled each time, up to the longest.
  public static let retryDelay = Duration.seconds(30)
  /// The longest pause: one that gives none for want of a right will most likely give none later.
  public static let longestRetryDelay = Duration.seconds(3600)

  /// Something that bears on the lock.
  public enum Event: Sendable, Hashable {
    /// What is known of logind: whether it can be asked, how often it has gone away, whether the machine goes to sleep.
    case logind(isAvailable: Bool, departures: Int, isSleeping: Fact)
    /// Whether every field is off.
    case fields(areOff: Bool)
    /// logind gave the lock that was asked for.
    case granted
    /// logind gave none.
    case refused
    /// The time of the last `wait` is over.
    case tick
  }

  /// What to do.
  public enum Action: Sendable, Hashable {
    /// Ask logind for a lock; `granted` or `refused` is the answer. The lock that was held before is let go once there is
    /// a new one.
    case ask
    /// Let go of every lock.
    case release
    /// Let go of every lock though a field is on still.
    case giveUp
    /// Say `tick` after this time, and forget about an earlier wait.
    case wait(Duration)
  }

  private var isAvailable = false
  private var departures = 0
  private var isSleeping = false
  private var areFieldsOff = true
  /// The logind that was asked, by the departures of its predecessors.
  private var asked: Int?
  /// The logind that gave the lock that is held.
  private var granted: Int?
  private var isPausing = false
  private var pause = SleepDelay.retryDelay

  /// Nothing is known, and nothing held.
  public init() {}

  /// Whether a lock is held.
  public var isHeld: Bool { granted != nil }

  /// Takes an event in.
  ///
  /// - Returns: what to do, in this order.
  public mutating func handle(_ event: Event) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .logind(let isAvailable, let departures, let isSleeping):
      let wasSleeping = self.isSleeping
      if departures != self.departures { (isPausing, pause) = (false, Self.retryDelay) }
      (self.isAvailable, self.departures, self.isSleeping) = (isAvailable, departures, isSleeping == .yes)
      if self.isSleeping, !wasSleeping {
        isPausing = false
        if isHeld, !areFieldsOff { actions.append(.wait(Self.limit)) }
      }
    case .fields(let areOff): areFieldsOff = areOff
    case .granted:
      pause = Self.retryDelay
      granted = asked
      asked = nil
    case .refused:
      // While the machine goes to sleep there is none to be had; afterwards it is asked again anyway. A logind that has gone
      // meanwhile says nothing about its successor.
      let isOfThisLogind = asked == departures
      asked = nil
      if !isSleeping, isOfThisLogind {
        isPausing = true
        actions.append(.wait(pause))
        pause = min(pause * 2, Self.longestRetryDelay)
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
    // A logind that came back may know nothing of a lock that its predecessor gave.
    if !isSleeping, isAvailable, !isPausing, asked == nil, granted != departures {
      asked = departures
      return [.ask]
    }
    return []
  }
}
