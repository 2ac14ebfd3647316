/// How a hand-over ended.
public enum HandOverOutcome: Sendable, Hashable {
  /// The application has taken it: it replied, or it was started.
  case delivered
  /// It has not, for a reason that a person is shown.
  case failed(reason: String)
}
