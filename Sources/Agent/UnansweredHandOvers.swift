import Handlers

/// Hand-overs that were not answered in time, for as long as their answers may come.
///
/// Pure. The same app gets the same thing once, however often its user wants it tried again while it thinks, and whoever has been tried in
/// between.
struct UnansweredHandOvers {
  private struct Call {
    let offer: TapOffer
    /// Whether it is waited for again.
    var isAwaited = false
    /// Whether another app has been given the tap since.
    var isOvertaken = false
    /// What came when it was not known yet whether it is waited for again, or overtaken.
    var answer: HandOverOutcome?
  }

  private var calls: [TapOffer.HandOverKey: Call] = [:]
  /// How often each tap is to be opened where that is not committed yet.
  private var beginning: [String: Int] = [:]

  /// Whether an answer that has not come in time has still a meaning.
  func contains(_ offer: TapOffer) -> Bool { calls[offer.handOverKey] != nil }

  /// A tap is to be opened; `begun(_:)` or `notBegun(_:)` follows.
  mutating func begin(_ id: String) { beginning[id, default: 0] += 1 }

  /// It is committed that it is being opened.
  ///
  /// - Returns: whether the app has it already, and its answer is waited for again.
  mutating func begun(_ offer: TapOffer) -> Bool {
    countBeginning(of: offer.id)
    let key = offer.handOverKey
    for (other, call) in calls where other.tap == offer.id && other != key {
      if call.answer == nil { calls[other]?.isOvertaken = true } else { calls[other] = nil }
    }
    guard calls[key] != nil else { return false }
    calls[key] = Call(offer: offer, isAwaited: true)
    return true
  }

  /// That was refused.
  ///
  /// - Returns: what was answered meanwhile, to be taken in by `answered(_:_:)`.
  mutating func notBegun(_ id: String) -> [(offer: TapOffer, outcome: HandOverOutcome)] {
    countBeginning(of: id)
    return calls.values.filter { $0.offer.id == id && !$0.isAwaited }.compactMap { call in
      call.answer.map { (call.offer, $0) }
    }
  }

  private mutating func countBeginning(of id: String) {
    let count = beginning[id, default: 1] - 1
    beginning[id] = count > 0 ? count : nil
  }

  /// A hand-over is over; or nobody waits for its end any longer, and its answer may still come.
  mutating func handedOver(_ offer: TapOffer, mayBeAnswered: Bool) {
    calls[offer.handOverKey] = mayBeAnswered ? Call(offer: offer) : nil
  }

  /// The last word on one that nobody waits for any longer.
  ///
  /// - Returns: whether it makes something else of the tap. Where it is waited for again, whoever waits has the answer too; where another
  ///   app has been given the tap, it comes too late.
  mutating func answered(_ offer: TapOffer, _ outcome: HandOverOutcome) -> Bool {
    let key = offer.handOverKey
    guard let call = calls[key] else { return false }
    guard !call.isAwaited, beginning[offer.id] == nil else {
      calls[key]?.answer = outcome
      return false
    }
    calls[key] = nil
    return !call.isOvertaken
  }
}
