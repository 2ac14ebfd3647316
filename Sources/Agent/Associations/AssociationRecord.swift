/// The last answer of a domain about one document, and when to ask again.
///
/// An answer is valid for ``maximumAge``, even if later requests fail. Times are seconds since 1970.
package struct AssociationRecord: Sendable, Hashable {
  /// The answer of a domain.
  package enum Answer: Sendable, Hashable {
    /// The domain has this file, which is a valid document.
    case file([UInt8])
    /// The domain has no such file.
    case none
  }

  /// How long an answer is valid if no newer one arrives: 30 days. After that the user is asked again.
  package static let maximumAge: Int64 = 30 * 86_400
  /// The wait after a failure, in seconds. It doubles with each further failure, up to `lastRetry` (a day).
  static let firstRetry: Int64 = 3600
  static let lastRetry: Int64 = 86_400

  /// The last answer; nil if there is none.
  package internal(set) var answer: Answer?
  /// When the last answer arrived.
  package internal(set) var answered: Int64 = 0
  /// When the domain was last asked.
  package internal(set) var attempted: Int64 = 0
  /// When to ask the domain again.
  package internal(set) var due: Int64 = 0
  /// How many requests in a row have failed.
  package internal(set) var failures = 0
  /// Why the last request failed; nil if it did not.
  package internal(set) var failure: FetchFailure?

  /// The record of a document that was never requested.
  package init() {}

  /// Updates the record with the result of a request, already checked for this kind of document.
  package mutating func take(_ outcome: FetchOutcome, at now: Int64) {
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

  /// Whether to ask the domain now. Also true if the clock was set back to before the last request, because the wait
  /// would otherwise become longer.
  package func isDue(at now: Int64) -> Bool { now >= due || now < attempted }

  /// The last answer, if it is still valid.
  package func current(at now: Int64) -> Answer? {
    // An answer from the future was stored when the clock was wrong, so its age is unknown.
    now >= answered && now - answered < Self.maximumAge ? answer : nil
  }
}
