/// What is known of one document of one domain, and when to ask again.
///
/// The last answer counts, whatever happens to later questions, for ``maximumAge``. Times are seconds since 1970.
public struct AssociationRecord: Sendable, Hashable {
  /// What the domain has answered.
  public enum Answer: Sendable, Hashable {
    /// It has this file, which is one of its kind.
    case file([UInt8])
    /// It has none.
    case none
  }

  /// How long an answer counts where none has come since: 30 days. After that the user is asked again.
  public static let maximumAge: Int64 = 30 * 86_400
  /// How long to wait after a failure, in seconds: doubled with each, up to a day.
  static let firstRetry: Int64 = 3600
  static let lastRetry: Int64 = 86_400

  /// The last answer; nil where there was none.
  public internal(set) var answer: Answer?
  /// When it came.
  public internal(set) var answered: Int64 = 0
  /// When the domain was asked last.
  public internal(set) var attempted: Int64 = 0
  /// When it is to be asked again.
  public internal(set) var due: Int64 = 0
  /// How many questions in a row have failed.
  public internal(set) var failures = 0
  /// Why the last question failed; nil where it did not.
  public internal(set) var failure: FetchFailure?

  /// A document that was never asked for.
  public init() {}

  /// Takes in what came of a question.
  ///
  /// - Parameters:
  ///   - outcome: what came of it, checked as the document it is of.
  ///   - now: the time.
  public mutating func take(_ outcome: FetchOutcome, at now: Int64) {
    attempted = now
    switch outcome {
    case .found(let file, let cacheControl):
      answer(.file(file), at: now, for: CacheLifetime.seconds(cacheControl))
    case .absent:
      answer(.none, at: now, for: CacheLifetime.standard)
    case .failed(let failure):
      self.failure = failure
      due = now + min(Self.firstRetry << min(Int64(failures), 16), Self.lastRetry)
      failures = min(failures + 1, 1000)
    }
  }

  private mutating func answer(_ answer: Answer, at now: Int64, for lifetime: Int64) {
    self.answer = answer
    answered = now
    due = now + lifetime
    failures = 0
    failure = nil
  }

  /// Whether the domain is to be asked. A clock that was set back is no reason to wait longer than it would have been.
  public func isDue(at now: Int64) -> Bool { now >= due || now < attempted }

  /// What still counts of the last answer.
  public func current(at now: Int64) -> Answer? {
    // An answer of the future is one of a clock that was wrong: nobody knows how old it is.
    now >= answered && now - answered < Self.maximumAge ? answer : nil
  }
}
