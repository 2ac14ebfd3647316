/// How a hand-over ended.
public enum HandOverOutcome: Sendable, Hashable {
  /// The application has taken it: it replied, or it was started.
  case delivered
  /// It has not.
  ///
  /// The reason is for a person; it may hold the application's own words, of any length. The error is the D-Bus error's name
  /// where there is one, which a log may show.
  case failed(reason: String, error: String? = nil)
  /// It may have: no answer came. The reason is for a person, in words of our own.
  case unknown(reason: String)
}
