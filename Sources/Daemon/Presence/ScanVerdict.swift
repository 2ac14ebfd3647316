package import Settings

/// Whether a reader scans, and the reasons if it does not.
package struct ScanVerdict: Sendable, Hashable {
  /// The reader scans if there are none.
  package let reasons: SuspendReasons
  /// The daemon keeps taps until the session is unlocked.
  package let holdsTaps: Bool

  /// The reader may scan.
  package var scans: Bool { reasons.isEmpty }

  /// The reader scans, or would scan if it were ready.
  package var wantsReader: Bool { reasons.isSubset(of: .noReader) }

  package init(reasons: SuspendReasons, holdsTaps: Bool = false) {
    self.reasons = reasons
    self.holdsTaps = holdsTaps
  }

  /// An unknown condition allows scanning; for an unknown lock state, `policy` decides.
  package init(_ conditions: ScanConditions, policy: ScanPolicy) {
    var reasons: SuspendReasons = []
    var holdsTaps = false
    if !conditions.isEnabled { reasons.formUnion(.disabled) }
    if !conditions.isReaderReady { reasons.formUnion(.noReader) }
    if let session = conditions.session {
      if session.isActive == .no { reasons.formUnion(.inactive) }
      if session.isLocal == .no { reasons.formUnion(.remote) }
      if session.isGraphical == .no { reasons.formUnion(.notGraphical) }
      if session.isUserSession == .no { reasons.formUnion(.sessionClass) }
      if policy.treatsAsLocked(session.isLocked) {
        let isProven = policy.lockDetection == .strict ? session.hasBeenSaidUnlocked : session.hasBeenUnlocked
        if policy.whenLocked == .hold && isProven {
          holdsTaps = true
        } else {
          reasons.formUnion(session.isLocked == .yes ? .locked : .lockUnknown)
        }
      }
    } else {
      reasons.formUnion(.noSession)
    }
    if !conditions.hasAgent { reasons.formUnion(.noAgent) }
    if conditions.isSleeping == .yes { reasons.formUnion(.sleeping) }
    if conditions.isInReaderSession { reasons.formUnion(.readerSession) }
    if conditions.isInhibited { reasons.formUnion(.inhibited) }
    if conditions.isInAirplaneMode == .yes { reasons.formUnion(.airplaneMode) }
    if conditions.isCameraInUse == .yes { reasons.formUnion(.camera) }
    if conditions.isDisplayOff == .yes { reasons.formUnion(.displayOff) }
    self.init(reasons: reasons, holdsTaps: holdsTaps)
  }
}

extension ScanPolicy {
  package func treatsAsLocked(_ fact: Fact) -> Bool {
    switch fact {
    case .yes: true
    case .no: false
    case .unknown: lockDetection == .strict
    }
  }
}

/// The conditions that decide whether one reader scans in the background.
///
/// The initial value does not allow scanning: a ready reader, a session and its agent must be confirmed first.
package struct ScanConditions: Sendable, Hashable {
  /// The session of the reader's seat: the active session or, if none is active, a session that has an agent.
  package struct Session: Sendable, Hashable {
    /// It is in the foreground of its seat.
    package var isActive: Fact
    /// The user sits at this machine, not at the far end of a network connection.
    package var isLocal: Fact
    package var isGraphical: Fact
    /// It belongs to a person: it is not a greeter, a lock screen or a background session.
    package var isUserSession: Fact
    package var isLocked: Fact
    /// At least once, so its user has authenticated.
    package var hasBeenUnlocked: Bool
    /// A reliable source reported at least once that the session is unlocked. `LockDetection=strict` requires this,
    /// because it does not take a missing report for "unlocked".
    package var hasBeenSaidUnlocked: Bool

    /// `hasBeenSaidUnlocked` is `hasBeenUnlocked` if it is nil.
    package init(
      isActive: Fact, isLocal: Fact, isGraphical: Fact, isUserSession: Fact, isLocked: Fact, hasBeenUnlocked: Bool,
      hasBeenSaidUnlocked: Bool? = nil
    ) {
      self.isActive = isActive
      self.isLocal = isLocal
      self.isGraphical = isGraphical
      self.isUserSession = isUserSession
      self.isLocked = isLocked
      self.hasBeenUnlocked = hasBeenUnlocked
      self.hasBeenSaidUnlocked = hasBeenSaidUnlocked ?? hasBeenUnlocked
    }

    /// The session that `Sessions=any` assumes. Without logind, the user of a registered agent is taken to sit at the
    /// machine.
    package static let assumed = Session(
      isActive: .yes, isLocal: .yes, isGraphical: .yes, isUserSession: .yes, isLocked: .no, hasBeenUnlocked: true)
  }

  /// `tagroute on`.
  package var isEnabled = true
  /// It is open and works.
  package var isReaderReady = false
  /// Of the reader's seat; nil if there is none.
  package var session: Session?
  /// For that session.
  package var hasAgent = false
  /// The machine is asleep or about to sleep.
  package var isSleeping = Fact.unknown
  /// Also true while a client waits for one.
  package var isInReaderSession = false
  package var isInhibited = false
  package var isInAirplaneMode = Fact.unknown
  package var isCameraInUse = Fact.unknown
  package var isDisplayOff = Fact.unknown

  package init() {}
}

/// The reasons why a reader does not scan.
///
/// This is an option set, so a verdict carries all reasons at once. Each reason has a name. The property
/// `SuspendReasons` on the bus, `tagroute status` and the log show these names.
package struct SuspendReasons: OptionSet, Sendable, Hashable {
  /// One bit per reason, in the order of `all`.
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let disabled = SuspendReasons(rawValue: 1 << 0)
  /// The reader is missing or has failed.
  package static let noReader = SuspendReasons(rawValue: 1 << 1)
  package static let noAgent = SuspendReasons(rawValue: 1 << 2)
  package static let noSession = SuspendReasons(rawValue: 1 << 3)
  /// Not in the foreground of its seat.
  package static let inactive = SuspendReasons(rawValue: 1 << 4)
  package static let remote = SuspendReasons(rawValue: 1 << 5)
  package static let notGraphical = SuspendReasons(rawValue: 1 << 6)
  /// A greeter, a lock screen or a background session.
  package static let sessionClass = SuspendReasons(rawValue: 1 << 7)
  package static let locked = SuspendReasons(rawValue: 1 << 8)
  /// No source says that the session is unlocked, and `LockDetection=strict` requires one.
  package static let lockUnknown = SuspendReasons(rawValue: 1 << 9)
  package static let sleeping = SuspendReasons(rawValue: 1 << 10)
  package static let readerSession = SuspendReasons(rawValue: 1 << 11)
  package static let inhibited = SuspendReasons(rawValue: 1 << 12)
  package static let airplaneMode = SuspendReasons(rawValue: 1 << 13)
  package static let camera = SuspendReasons(rawValue: 1 << 14)
  package static let displayOff = SuspendReasons(rawValue: 1 << 15)

  /// In the order in which they are shown.
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

  /// In the order of `all`.
  package var names: [String] {
    SuspendReasons.all.filter { contains($0.reason) }.map(\.name)
  }
}

/// A fact about the desktop: yes, no, or unknown because no source can report it.
package enum Fact: Sendable, Hashable, CaseIterable {
  case yes
  case no
  case unknown

  /// `.unknown` if `value` is nil.
  package init(_ value: Bool?) {
    self =
      switch value {
      case .some(true): .yes
      case .some(false): .no
      case .none: .unknown
      }
  }

  /// Combines two sources: `.yes` if either says yes, `.no` if one says no and the other does not say yes.
  package func or(_ other: Fact) -> Fact {
    if self == .yes || other == .yes { return .yes }
    return self == .no || other == .no ? .no : .unknown
  }
}
