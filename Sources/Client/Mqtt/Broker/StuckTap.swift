import TagrouteClient

/// A large tap that may be the reason why the broker ends the connection. Pure.
///
/// Most brokers end the connection for a message that is too large, and some give no reason. The tap would keep all later
/// ones from their place. So after two such ends it is sent without its contents.
struct StuckTap: Sendable {
  /// From this size on, in bytes, a tap may be too large.
  static let size = 8 * 1024

  private var id = ""
  private var ends = 0

  /// A connection has ended. `first` is the first tap without a confirmation; nil if there is none.
  mutating func connectionEnded(_ first: OutboxFlow.Sent?) {
    guard let first else { return }
    if first.tap.id == id {
      ends += 1
    } else {
      let isLarge = first.shorter != nil && first.payload.count >= Self.size
      (id, ends) = isLarge ? (first.tap.id, 1) : ("", 0)
    }
  }

  /// Whether the tap is sent without its contents from now on.
  func isShortened(_ tap: String) -> Bool { ends > 1 && tap == id }
}
