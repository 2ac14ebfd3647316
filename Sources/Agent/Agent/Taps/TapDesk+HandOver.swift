import Bus
import Handlers
import Inbox
import Journal
import NDEF
import Names
import Routing

/// The opening of a tap, from the click to the app's answer.
extension TapDesk {
  enum Opening {
    /// ``TapState/opening`` is being committed. Can transition to: `.handingOver`, or the end if the inbox refuses it.
    case committing(Task<BusError?, Never>)
    /// The app has the tap, and the agent waits up to 25 seconds for its answer. Can transition to: `.recording`.
    case handingOver(Task<HandOverOutcome, Never>)
    /// The outcome is known, and is being committed and shown. Can transition to: the end.
    case recording(Task<HandOverOutcome, Never>)

    /// Nil until the hand-over begins.
    var handOver: Task<HandOverOutcome, Never>? {
      switch self {
      case .committing: nil
      case .handingOver(let task), .recording(let task): task
      }
    }
  }

  /// Commits that a tap is being opened, and begins the hand-over. Returns why the tap is not opened; nil if the
  /// hand-over has begun. The token is the click's activation token. The choice is remembered if the click was one.
  func open(_ offer: TapOffer, token: String?, choice: HandlerChoices.Change? = nil) async -> BusError? {
    // A click on "Try again" may arrive before the failure's notification is recorded.
    if case .recording(let handOver)? = openings[offer.id] { _ = await handOver.value }
    guard openings[offer.id] == nil else { return .beingOpened }
    begin(removals.handle(.opening(offer)))
    let commit = Task<BusError?, Never> {
      if let refusal = await move(offer.id, to: .opening, receiver: offer.receiver) {
        openings[offer.id] = nil
        begin(removals.handle(.notOpened(offer.id)))
        return AgentAnswers.error(refusal)
      }
      await perform(policy.handle(.opening(offer, token: token, choice: choice)))
      return nil
    }
    openings[offer.id] = .committing(commit)
    return await commit.value
  }

  /// Also for one more wait for an answer.
  func start(_ offer: TapOffer, _ body: @escaping @Sendable (TapDesk) async -> HandOver) {
    openings[offer.id] = .handingOver(
      Task {
        let result = await body(self)
        openings[offer.id] = openings[offer.id]?.handOver.map { .recording($0) }
        logOutcome(result.outcome, of: offer, isFinal: result.answer == nil)
        let isFollowed = result.answer != nil && policy.pendingAnswer(of: offer) == result.answer
        await perform(policy.handle(.handedOver(offer, result.outcome, answer: result.answer)))
        begin(removals.handle(.ended(offer.id, result.outcome)))
        openings[offer.id] = nil
        if let answer = result.answer, !isFollowed { Task { await follow(answer, to: offer) } }
        return result.outcome
      })
  }

  func deliver(_ offer: TapOffer, token: String?) async -> HandOver {
    if let command = offer.command {
      let click = Launcher.Click(activationToken: token, tapID: offer.id, tag: offer.read)
      return await launcher.run(command, message: offer.read.bytes, click: click)
    }
    if offer.connects { return HandOver(outcome: await connect(offer)) }
    // An app that gets one record or the link alone gets neither the message nor the UID.
    let whole = offer.handsOverMessage
    let click = Launcher.Click(
      activationToken: token, tapID: offer.id, tag: whole ? offer.read : nil, isByUser: offer.manner != .withoutClick)
    if let handler = offer.handler, let record = offer.route.record, offer.uri == nil {
      return await launcher.open(handler, record, of: offer.read, whole: whole, click: click)
    }
    guard let handler = offer.handler, let uri = offer.uri else {
      return HandOver(outcome: await launcher.copy(offer.copied))
    }
    return await launcher.open(handler, uri, message: whole ? offer.read.bytes : nil, click: click)
  }

  /// For an answer that comes after the wait for it.
  private func follow(_ answer: PendingAnswer, to offer: TapOffer) async {
    let outcome = await answer.outcome
    // Wait for an opening in progress first: it may be another wait for this answer.
    while let opening = openings[offer.id] {
      switch opening {
      case .committing(let task): _ = await task.value
      case .handingOver(let task), .recording(let task): _ = await task.value
      }
    }
    let isAwaited = policy.pendingAnswer(of: offer) == answer
    let actions = policy.handle(.answered(offer, outcome))
    guard !actions.isEmpty || isAwaited && offer.command != nil else { return }
    logOutcome(outcome, of: offer)
    let refusals = await perform(actions)
    // The tap may have been removed from the inbox while the program ran.
    if offer.command != nil, refusals[offer.id] != nil { await perform(policy.handle(.cleared(offer.id))) }
    // The program of a rule was started long ago, so OnRemove= runs even if it has failed since.
    if offer.command == nil { begin(removals.handle(.ended(offer.id, outcome))) }
  }

  /// Without the handler's message, which may contain text from the tag. If the outcome of a rule's program is final, the
  /// program has ended.
  private func logOutcome(_ outcome: HandOverOutcome, of offer: TapOffer, isFinal: Bool = true) {
    let handler = offer.receiverName ?? "the clipboard"
    switch outcome {
    case .delivered where offer.command != nil && isFinal:
      log(.info, "tap \(offer.id) was handed to \(handler), which has ended without an error")
    case .delivered: log(.info, "tap \(offer.id) was handed to \(handler)")
    case .failed(let failure) where failure.code == .commandFailed || failure.code == .commandMissing:
      log(.warning, "tap \(offer.id) failed: rule “\(offer.rule?.name ?? "")”: \(failure)")
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

extension TapDesk {
  private func connect(_ offer: TapOffer) async -> HandOverOutcome {
    guard let networkManager = await router.networkManager else { return .failed(HandOverFailure(.noNetworkManager)) }
    guard let message = offer.read.message, let network = try? offer.route.record?.network(in: message),
      WiFiOffer(network) == offer.network
    else { return .failed(HandOverFailure(.networkUnusable)) }
    return await networkManager.join(network, saving: offer.manner == .savingNetwork)
  }
}

extension TapDesk {
  /// Behind a lock the agent runs no action, and does not make up for it later.
  func tagRemoved(_ id: String) async {
    await signals.emit("TagRemoved", [.string(id)])
    let isLocked = await isLocked()
    if isLocked { log(.debug, "the tag of tap \(id) was removed while the session was locked") }
    begin(removals.handle(isLocked ? .forgotten(id) : .removed(id)))
  }

  /// Begins actions, unless the session is locked. Their failure concerns no tap that is on the screen, so it is only
  /// logged.
  func begin(_ actions: [TagRemovals.Action]) {
    for action in actions {
      Task {
        // A late answer may come minutes after the removal.
        guard await !isLocked() else {
          log(.info, "the removal of a tag has no effect: the session is locked")
          return
        }
        switch action {
        case .run(let command, let click):
          // It may end the program of Run=, which then has not failed.
          if let id = click.tapID { _ = policy.handle(.undone(id)) }
          let handOver = await launcher.run(command, message: [], click: click)
          let program = "the program of OnRemove= of the rule “\(command.rule)”"
          if case .delivered = handOver.outcome { log(.info, "\(program) was started: the tag was removed") }
          if case .failed(let failure) = await handOver.answer?.outcome ?? handOver.outcome {
            log(.warning, "\(program) failed: \(failure)")
          }
        case .report(let application, let click): await launcher.reportRemoval(to: application, click: click)
        }
      }
    }
  }
}
