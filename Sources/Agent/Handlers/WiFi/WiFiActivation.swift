/// The way of an active connection of NetworkManager to its end (`NMActiveConnectionState`).
///
/// NetworkManager reports `activating` → `activated`, or `deactivating` → `deactivated` with a reason. The first of
/// `activated` and `deactivated` decides.
struct WiFiActivation {
  enum Event: Sendable, Hashable {
    /// The state, and the reason for it (`NMActiveConnectionStateReason`).
    case state(UInt32, reason: UInt32)
    /// The state cannot be read: the active connection is gone.
    case gone
    /// It takes too long.
    case timedOut
  }

  enum End: Sendable, Hashable {
    case connected
    case failed(HandOverFailure.Code, String)
  }

  /// Why the connection is going down; nil if it is not.
  private var reason: UInt32?

  /// How it ended; nil if it has not.
  mutating func handle(_ event: Event) -> End? {
    switch event {
    case .state(Self.activated, _): return .connected
    case .state(Self.deactivating, let reason):
      self.reason = reason
      return nil
    case .state(Self.deactivated, let reason): return Self.failure(self.reason ?? reason)
    case .state: return nil
    case .gone: return Self.failure(reason ?? 0)
    case .timedOut: return .failed(.networkNotJoined, Self.tooLong)
    }
  }

  /// The detail of a failure.
  static let tooLong = "it took too long"
  /// NetworkManager's numbers.
  private static let activated: UInt32 = 2
  private static let deactivating: UInt32 = 3
  private static let deactivated: UInt32 = 4
  /// No secrets were provided, or the login failed.
  private static let passwordReasons: Set<UInt32> = [9, 10]

  private static func failure(_ reason: UInt32) -> End {
    passwordReasons.contains(reason) ? .failed(.networkPassword, "") : .failed(.networkNotJoined, "reason \(reason)")
  }
}
