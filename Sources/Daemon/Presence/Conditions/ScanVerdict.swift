package import Settings

/// Whether a reader scans, and the reasons if it does not.
package struct ScanVerdict: Sendable, Hashable {
  /// The reasons not to scan. The reader scans if there are none.
  package let reasons: SuspendReasons
  /// The daemon keeps taps until the session is unlocked.
  package let holdsTaps: Bool

  /// The reader may scan.
  package var scans: Bool { reasons.isEmpty }

  /// The reader scans, or would scan if it were ready.
  package var wantsReader: Bool { reasons.isSubset(of: .noReader) }

  /// Creates a verdict.
  package init(reasons: SuspendReasons, holdsTaps: Bool = false) {
    self.reasons = reasons
    self.holdsTaps = holdsTaps
  }

  /// The verdict on `conditions`. An unknown condition allows scanning; for an unknown lock state, `policy` decides.
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
  /// Whether the daemon treats a session with this lock state as locked.
  package func treatsAsLocked(_ fact: Fact) -> Bool {
    switch fact {
    case .yes: true
    case .no: false
    case .unknown: lockDetection == .strict
    }
  }
}
