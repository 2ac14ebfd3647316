/// The reasons why a reader does not scan.
///
/// This is an option set, so a verdict carries all reasons at once. Each reason has a name. The property
/// `SuspendReasons` on the bus, `tagroute status` and the log show these names.
package struct SuspendReasons: OptionSet, Sendable, Hashable {
  /// One bit per reason, in the order of `all`.
  package let rawValue: UInt32

  /// Creates a set with one bit per reason.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Scanning is switched off.
  package static let disabled = SuspendReasons(rawValue: 1 << 0)
  /// The reader is missing or has failed.
  package static let noReader = SuspendReasons(rawValue: 1 << 1)
  /// The session has no agent.
  package static let noAgent = SuspendReasons(rawValue: 1 << 2)
  /// The reader's seat has no session.
  package static let noSession = SuspendReasons(rawValue: 1 << 3)
  /// The session is not in the foreground of its seat.
  package static let inactive = SuspendReasons(rawValue: 1 << 4)
  /// The session is remote.
  package static let remote = SuspendReasons(rawValue: 1 << 5)
  /// The session has no graphical display.
  package static let notGraphical = SuspendReasons(rawValue: 1 << 6)
  /// The session is a greeter, a lock screen or a background session.
  package static let sessionClass = SuspendReasons(rawValue: 1 << 7)
  /// The session is locked.
  package static let locked = SuspendReasons(rawValue: 1 << 8)
  /// No source says that the session is unlocked, and `LockDetection=strict` requires one.
  package static let lockUnknown = SuspendReasons(rawValue: 1 << 9)
  /// The machine is asleep or about to sleep.
  package static let sleeping = SuspendReasons(rawValue: 1 << 10)
  /// A client uses the reader.
  package static let readerSession = SuspendReasons(rawValue: 1 << 11)
  /// An inhibitor is active.
  package static let inhibited = SuspendReasons(rawValue: 1 << 12)
  /// Every radio is off.
  package static let airplaneMode = SuspendReasons(rawValue: 1 << 13)
  /// A camera is in use.
  package static let camera = SuspendReasons(rawValue: 1 << 14)
  /// The display is off.
  package static let displayOff = SuspendReasons(rawValue: 1 << 15)

  /// Every reason with its name, in the order in which they are shown.
  package static let all: [(reason: SuspendReasons, name: String)] = [
    (.disabled, "disabled"),
    (.noReader, "no-reader"),
    (.noAgent, "no-agent"),
    (.noSession, "no-session"),
    (.inactive, "session-inactive"),
    (.remote, "session-remote"),
    (.notGraphical, "session-not-graphical"),
    (.sessionClass, "session-class"),
    (.locked, "session-locked"),
    (.lockUnknown, "lock-unknown"),
    (.sleeping, "sleeping"),
    (.readerSession, "reader-session"),
    (.inhibited, "inhibited"),
    (.airplaneMode, "airplane-mode"),
    (.camera, "camera"),
    (.displayOff, "display-off"),
  ]

  /// The names of the reasons in this set, in the order of `all`.
  package var names: [String] {
    SuspendReasons.all.filter { contains($0.reason) }.map(\.name)
  }
}
