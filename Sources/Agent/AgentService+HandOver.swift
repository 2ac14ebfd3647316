import Handlers
import Inbox
import Journal
import Routing

/// The hand-over of a tap, to its last word.
extension AgentService {
  /// Hands a tap over, or waits once more for the answer to what was handed over.
  ///
  /// - Returns: how it has ended, as far as that is known.
  func handOver(_ offer: TapOffer, by body: () async -> HandOver) async -> HandOverOutcome {
    let result = await body()
    tell(result.outcome, of: offer)
    let key = offer.handOverKey
    let isFollowed = answers[key] == result.answer
    answers[key] = result.answer
    await perform(policy.handle(.handedOver(offer, result.outcome, mayBeAnswered: result.answer != nil)))
    handOvers[offer.id] = nil
    if let answer = result.answer, !isFollowed { Task { await follow(answer, to: offer) } }
    return result.outcome
  }

  func deliver(_ offer: TapOffer, token: String?) async -> HandOver {
    guard let handler = offer.handler, let uri = offer.uri else {
      return HandOver(outcome: await launcher.copy(offer.copied))
    }
    do {
      let message = offer.handsOverMessage ? try await inbox.tap(offer.id).tap.message : nil
      let click = Launcher.Click(activationToken: token, tapID: offer.id)
      return await launcher.open(handler, uri, message: message, click: click)
    } catch { return HandOver(outcome: .failed(HandOverFailure(.messageMissing, error.message))) }
  }

  /// Commits that a tap is being opened, and goes on with what follows from that.
  ///
  /// - Returns: why the inbox has refused it; nil where it is being opened.
  func begin(_ offer: TapOffer, token: String?, choice: HandlerChoices.Change?) async -> InboxError? {
    let refusal = await move(offer.id, to: .opening, handler: offer.handler?.desktopID)
    await perform(policy.handle(refusal == nil ? .begun(offer, token: token, choice: choice) : .notBegun(offer)))
    if !policy.isUnanswered(offer) { answers[offer.handOverKey] = nil }
    return refusal
  }

  /// Never hands anything over: the app has it.
  func waitAgain(_ offer: TapOffer) async -> HandOver {
    guard let answer = answers[offer.handOverKey] else {
      return HandOver(outcome: .unknown(HandOverDoubt(.leftWithoutAnswer)))
    }
    return await launcher.wait(for: answer)
  }

  /// Takes in the last word on a tap, whenever it comes.
  private func follow(_ answer: PendingAnswer, to offer: TapOffer) async {
    let outcome = await answer.outcome
    // What is shown and kept of the wait that has begun since then comes first.
    while let handOver = handOvers[offer.id] { _ = await handOver.value }
    let actions = policy.handle(.answered(offer, outcome))
    // Who has begun to wait again finds it there.
    if answers[offer.handOverKey] == answer && !policy.isUnanswered(offer) { answers[offer.handOverKey] = nil }
    guard !actions.isEmpty else { return }
    tell(outcome, of: offer)
    await perform(actions)
  }

  /// A handler's own words are no more for the log than what is on the tag, which it knows.
  func tell(_ outcome: HandOverOutcome, of offer: TapOffer) {
    let handler = offer.handler?.desktopID ?? "the clipboard"
    switch outcome {
    case .delivered: log(.info, "tap \(offer.id) was handed to \(handler)")
    case .unknown(let doubt): log(.warning, "tap \(offer.id) may have been handed to \(handler): \(doubt)")
    case .failed(let failure):
      log(.warning, "tap \(offer.id) was not handed to \(handler): \(failure.error ?? failure.code.rawValue)")
      log.debug(
        "tap \(offer.id) was not handed over because",
        Redacted(outcome.failure?.words ?? "", as: "reason"))
    }
  }
}
