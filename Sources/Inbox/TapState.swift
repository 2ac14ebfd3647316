/// Where a tap stands on its way from the tag to the handler.
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
/// The raw value is what the database and the bus interface hold.
public enum TapState: String, Sendable, Hashable, CaseIterable {
  /// Stored; nobody has seen it yet. After a crash it is shown.
  case received
  /// A notification server has taken it. After a crash it is shown again.
  case shown
  /// The user has clicked; the handler is being given the message. After a crash it becomes ``failed``.
  case opening
  /// The handler has taken the message.
  case delivered
  /// The user has closed it, a newer tap of the same tag has taken its place, or there was nothing to open
  /// (``TapReason/Code/nothingToOpen``).
  case dismissed
  /// It was not handed over, or nobody knows whether it was; the tap's reason says why. It stays so while a notification offers to try
  /// again, or is to, and until the handler answers after all; for good where there was nothing that may be opened
  /// (``TapReason/Code/refused``).
  case failed
  /// The notification server, newer taps or the retention ended its time on the screen. One that had failed keeps the reason.
  case expired

  /// The states that this one may become.
  public var successors: Set<TapState> {
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
  public var isOpen: Bool {
    switch self {
    case .received, .shown, .opening: true
    case .delivered, .dismissed, .failed, .expired: false
    }
  }
}
