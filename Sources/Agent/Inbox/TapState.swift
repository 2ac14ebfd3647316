/// The state of a tap between the tag and the handler.
///
/// `received → shown → opening → delivered`, or one of the other ends:
///
/// ```
/// received ─→ shown ─→ opening ─→ delivered
///    │          │         └─────→ failed ─→ opening ("Try again"), delivered or failed (a late answer)
///    └──────────┴─→ opening, dismissed, failed, expired
/// failed ─→ dismissed, expired
/// dismissed, expired ─→ opening (from the list, later)
/// dismissed, expired ─→ delivered, expired ─→ expired (a late answer)
/// expired ─→ dismissed (from the list, later)
/// ```
///
/// The database and the bus interface use the raw value.
package enum TapState: String, Sendable, Hashable, CaseIterable {
  /// Stored, but not on the screen yet. After a crash it is shown.
  case received
  /// A notification server accepted it. After a crash it is shown again.
  case shown
  /// The user clicked, and the handler is being sent the message. After a crash it becomes ``failed``.
  case opening
  /// The handler accepted the message.
  case delivered
  /// The user closed it, a newer tap of the same tag replaced it, it contains nothing to open
  /// (``TapReason/Code/nothingToOpen``), a rule or all apps ignore it (``TapReason/Code/ignored``), or nobody can be asked
  /// (``TapReason/Code/headless``).
  case dismissed
  /// It was not handed over, or may not have been; the reason says why. It stays so while a notification offers to try
  /// again, and until the handler answers after all. A tap that may not be opened stays so for good
  /// (``TapReason/Code/refused``).
  case failed
  /// The notification server, newer taps or the retention ended its time on the screen. A failed one keeps its reason.
  case expired

  /// The states that may follow.
  package var successors: Set<TapState> {
    switch self {
    case .received: [.shown, .opening, .dismissed, .failed, .expired]
    case .shown: [.opening, .dismissed, .failed, .expired]
    case .opening: [.delivered, .failed]
    case .failed: [.opening, .dismissed, .expired, .delivered, .failed]
    case .dismissed: [.opening, .delivered]
    case .expired: [.opening, .dismissed, .delivered, .expired]
    case .delivered: []
    }
  }

  /// Whether the tap still waits for the user or for the handler.
  package var isOpen: Bool {
    switch self {
    case .received, .shown, .opening: true
    case .delivered, .dismissed, .failed, .expired: false
    }
  }
}

extension StoredTap {
  /// Whether the tap is done. A failed one waits for another try, unless it may not be opened.
  var isOver: Bool {
    switch state {
    case .received, .shown, .opening: false
    case .delivered, .dismissed, .expired: true
    case .failed: reason.code == .refused
    }
  }
}
