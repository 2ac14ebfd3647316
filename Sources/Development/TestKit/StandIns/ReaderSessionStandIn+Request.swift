package import Bus

extension ReaderSessionStandIn {
  /// A request from a client.
  package enum Request: Sendable, Hashable {
    case start([String: Value])
    case setMessage(String)
    case invalidate(String)
    /// The options are empty for `RestartPolling`.
    case restartPolling([String: Value])
    case operation(String, [Value])
    case inhibit(who: String, why: String, [String: Value])
    /// The client has released the inhibitor.
    case released
  }
}
