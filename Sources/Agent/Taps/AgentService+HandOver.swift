import Bus
import Handlers
import Inbox
import Journal
import Names
import Routing

/// The opening of a tap, from the click to the app's answer.
extension AgentService {
  /// The opening of one tap.
  enum Opening {
    /// ``TapState/opening`` is being committed. Can transition to: `.handingOver`, or the end if the inbox refuses it.
    case committing(Task<BusError?, Never>)
    /// The app has the tap, and the agent waits for its answer. Ends with the answer, or after 25 seconds.
    case handingOver(Task<HandOverOutcome, Never>)
  }

  /// Commits that a tap is being opened, and begins the hand-over.
  ///
  /// - Parameters:
  ///   - offer: what to open.
  ///   - token: the activation token of the click.
  ///   - choice: what to remember if the click was a choice.
  /// - Returns: why the tap is not opened; nil if the hand-over has begun.
  func open(_ offer: TapOffer, token: String?, choice: HandlerChoices.Change? = nil) async -> BusError? {
    guard openings[offer.id] == nil else { return .beingOpened }
    let commit = Task<BusError?, Never> {
      if let refusal = await move(offer.id, to: .opening, handler: offer.handler?.desktopID) {
        openings[offer.id] = nil
        return AgentAnswers.error(refusal)
      }
      await perform(policy.handle(.opening(offer, token: token, choice: choice)))
      return nil
    }
    openings[offer.id] = .committing(commit)
    return await commit.value
  }

  /// Begins a hand-over, or one more wait for its answer.
  func start(_ offer: TapOffer, _ body: @escaping @Sendable (AgentService) async -> HandOver) {
    openings[offer.id] = .handingOver(
      Task {
        let result = await body(self)
        logOutcome(result.outcome, of: offer)
        let isFollowed = result.answer != nil && policy.pendingAnswer(of: offer) == result.answer
        await perform(policy.handle(.handedOver(offer, result.outcome, answer: result.answer)))
        openings[offer.id] = nil
        if let answer = result.answer, !isFollowed { Task { await follow(answer, to: offer) } }
        return result.outcome
      })
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

  /// Takes in an answer that comes after the wait for it.
  private func follow(_ answer: PendingAnswer, to offer: TapOffer) async {
    let outcome = await answer.outcome
    // An opening that is under way decides first: it may be one more wait for this answer.
    while let opening = openings[offer.id] {
      switch opening {
      case .committing(let task): _ = await task.value
      case .handingOver(let task): _ = await task.value
      }
    }
    let actions = policy.handle(.answered(offer, outcome))
    guard !actions.isEmpty else { return }
    logOutcome(outcome, of: offer)
    await perform(actions)
  }

  /// Logs an outcome, without the handler's message, which may contain text from the tag.
  private func logOutcome(_ outcome: HandOverOutcome, of offer: TapOffer) {
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

extension BusError {
  static let beingOpened = BusError(name: Names.Errors.notPossible, message: "it is being opened already")
}
