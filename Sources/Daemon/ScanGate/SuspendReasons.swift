/// The reasons why a reader does not scan.
///
/// This is an option set, so a verdict carries all reasons at once. Each reason has a name. The property
/// `SuspendReasons` on the bus, `tagroute status` and the log show these names.
public struct SuspendReasons: OptionSet, Sendable, Hashable {
  /// One bit per reason, in the order of `all`.
  public let rawValue: UInt32

  /// Creates a set with one bit per reason.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Scanning is switched off.
  public static let disabled = SuspendReasons(rawValue: 1 << 0)
  /// The reader is missing or has failed.
  public static let noReader = SuspendReasons(rawValue: 1 << 1)
  /// The session has no agent.
  public static let noAgent = SuspendReasons(rawValue: 1 << 2)
  /// The reader's seat has no session.
  public static let noSession = SuspendReasons(rawValue: 1 << 3)
  /// The session is not in the foreground of its seat.
  public static let inactive = SuspendReasons(rawValue: 1 << 4)
  /// The session is remote.
  public static let remote = SuspendReasons(rawValue: 1 << 5)
  /// The session has no graphical display.
  public static let notGraphical = SuspendReasons(rawValue: 1 << 6)
  /// The session is a greeter, a lock screen or a background session.
  public static let sessionClass = SuspendReasons(rawValue: 1 << 7)
  /// The session is locked.
  public static let locked = SuspendReasons(rawValue: 1 << 8)
  /// No source says that the session is unlocked, and `LockDetection=strict` requires one.
  public static let lockUnknown = SuspendReasons(rawValue: 1 << 9)
  /// The machine is asleep or about to sleep.
  public static let sleeping = SuspendReasons(rawValue: 1 << 10)
  /// A client uses the reader.
  public static let readerSession = SuspendReasons(rawValue: 1 << 11)
  /// An inhibitor is active.
  public static let inhibited = SuspendReasons(rawValue: 1 << 12)
  /// Every radio is off.
  public static let airplaneMode = SuspendReasons(rawValue: 1 << 13)
  /// A camera is in use.
  public static let camera = SuspendReasons(rawValue: 1 << 14)
  /// The display is off.
  public static let displayOff = SuspendReasons(rawValue: 1 << 15)

  /// Every reason with its name, in the order in which they are shown.
  public static let all: [(reason: SuspendReasons, name: String)] = [
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
  public var names: [String] {
    SuspendReasons.all.filter { contains($0.reason) }.map(\.name)
  }
}
