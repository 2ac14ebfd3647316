import Handlers
import Inbox
import Notifications
import Routing

/// What is done about each tap, from its storing to its end. Pure: the agent carries out what it decides, in order.
///
/// A ``Action/move(_:to:reason:)`` is committed before the action that follows it is begun, and where it is refused (somebody
/// else was faster) nothing that follows it is done for that tap. So no effect is seen that a restart would not know of. What is opened is
/// decided in two steps: nothing is forgotten here for an ``Action/begin(_:token:choice:)`` that is refused.
struct TapPolicy {
  /// Something that happened.
  enum Event {
    /// A new tap is in the inbox.
    case stored(TapOffer)
    /// A tap of an earlier run is still ``TapState/received``, ``TapState/shown`` or just ``TapState/failed``.
    case resumed(TapOffer, TapState, reason: TapReason)
    /// A server has its notification there.
    case shown(String, at: NotificationPlace)
    /// The user wants it opened: a click, which may be a choice, or a call.
    case open(TapOffer, token: String?, choice: HandlerChoices.Change? = nil)
    /// It is committed that it is being opened.
    case begun(TapOffer, token: String?, choice: HandlerChoices.Change? = nil)
    /// That was refused.
    case notBegun(TapOffer)
    /// It is shown as it is decided now: a click was no answer to what was asked, or more is known now. With `failure` it has
    /// failed in the app that this offer names, and why.
    case again(TapOffer, failure: TapReason? = nil)
    /// The hand-over is over; or nobody waits for its end any longer, and its answer may still come.
    case handedOver(TapOffer, HandOverOutcome, mayBeAnswered: Bool = false)
    /// The last word on a hand-over that nobody waits for any longer.
    case answered(TapOffer, HandOverOutcome)
    /// Its notification is gone without a click.
    case closed(String, NotificationCloseReason)
    /// The user wants it gone: a call.
    case dismiss(String)
    /// The retention has ended it.
    case expired(String)
    /// Somebody has had it removed from the inbox while it was on the screen.
    case cleared(String)
  }

  /// Something to do.
  enum Action: Equatable {
    /// Commit the state.
    case move(String, to: TapState, reason: TapReason)
    /// Commit ``TapState/opening``, and who opens it; ``Event/begun(_:token:choice:)`` or ``Event/notBegun(_:)`` follows.
    case begin(TapOffer, token: String?, choice: HandlerChoices.Change?)
    /// Commit that its notification is there, and with the first one ``TapState/shown``.
    case putOnScreen(String, at: NotificationPlace)
    /// Show its notification, in the place of another tap's.
    case show(TapOffer, replacing: String?)
    /// Show that it failed.
    case showFailure(TapOffer, reason: TapReason)
    /// Take its notification away.
    case closeNotification(String)
    /// Keep what the user has chosen.
    case remember(String, HandlerChoices.Change)
    /// Hand it over; put it on the clipboard where nobody opens it.
    case handOver(TapOffer, token: String?)
    /// Wait for the answer of the app that has it already and has not answered: it would get it twice otherwise.
    case awaitAnswer(TapOffer)
    /// Emit `TapReceived`.
    case announceReceived(String)
    /// Emit `TapClosed`.
    case announceClosed(String, TapState)
  }

  private struct OnScreen {
    let offer: TapOffer
    var state: TapState
    /// Why it has failed.
    var failure: TapReason?
    let number: Int
  }

  /// More notifications than this are not on the screen at once, whatever is put on the reader.
  static let maximumOnScreen = 20

  /// Taps with a notification, or waiting for one.
  private var onScreen: [String: OnScreen] = [:]
  private var tapOfTag: [TagIdentity: String] = [:]
  private var unanswered = UnansweredHandOvers()
  private var lastNumber = 0
  /// Those of an earlier run are older than all of this one, whenever they are found.
  private var lastEarlierNumber = Int.min
  /// Those whose place another tap of their tag has taken. A click that was made before may still be on its way, and is meant for them.
  private var replaced: [TapOffer] = []

  /// How many taps have a notification, or wait for one.
  var count: Int { onScreen.count }

  /// The taps that have a notification, or wait for one, the first first.
  var onScreenInOrder: [String] { onScreen.values.sorted { $0.number < $1.number }.map(\.offer.id) }

  /// The offer whose notification is up.
  func offer(_ id: String) -> TapOffer? { onScreen[id]?.offer }

  /// Whether what is up says that it has failed.
  func hasFailed(_ id: String) -> Bool { onScreen[id]?.state == .failed }

  /// Whether an answer that has not come in time has still a meaning.
  func isUnanswered(_ offer: TapOffer) -> Bool { unanswered.contains(offer) }

  /// Whether another tap of the same tag has taken its place.
  func isReplaced(_ id: String) -> Bool { onScreen[id] == nil && replaced.contains { $0.id == id } }

  /// What a click means: only what is up can be answered, or was until the same tag came again, and what that was is not known of a tap
  /// that has left the screen meanwhile.
  func answer(to action: String, of id: String, canCopy: Bool) -> TapOffer.Answer {
    let offer = onScreen[id]?.offer ?? replaced.last { $0.id == id }
    return offer?.answer(to: action, canCopy: canCopy) ?? .showAgain
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .stored(let offer): return stored(offer)
    case .resumed(let offer, let state, let reason): return resumed(offer, state, reason)
    case .shown(let id, let place):
      // It has left the screen meanwhile, and is being closed.
      guard let state = onScreen[id]?.state else { return [] }
      if state == .received { onScreen[id]?.state = .shown }
      return [.putOnScreen(id, at: place)]
    case .open(let offer, let token, let choice):
      unanswered.begin(offer.id)
      return [.begin(offer, token: token, choice: choice)]
    case .begun(let offer, let token, let choice):
      let isAwaited = unanswered.begun(offer)
      let closing: [Action] = remove(offer.id) == nil ? [] : [.closeNotification(offer.id)]
      let remembering: [Action] = choice.map { [.remember(offer.id, $0)] } ?? []
      return closing + remembering + [isAwaited ? .awaitAnswer(offer) : .handOver(offer, token: token)]
    case .notBegun(let offer):
      return unanswered.notBegun(offer.id).flatMap { answered($0.offer, $0.outcome) }
    case .again(let offer, let failure): return again(offer, failure)
    case .handedOver(let offer, let outcome, let mayBeAnswered):
      unanswered.handedOver(offer, mayBeAnswered: mayBeAnswered)
      return handedOver(offer, outcome)
    case .answered(let offer, let outcome): return answered(offer, outcome)
    case .closed(let id, let reason): return closed(id, reason)
    case .dismiss(let id):
      let closing: [Action] = remove(id) == nil ? [] : [.closeNotification(id)]
      return [.move(id, to: .dismissed, reason: .none)] + closing + [.announceClosed(id, .dismissed)]
    case .expired(let id):
      let closing: [Action] = remove(id) == nil ? [] : [.closeNotification(id)]
      return closing + [.announceClosed(id, .expired)]
    case .cleared(let id):
      // Also where a click came in between: it has opened nothing, and left the notification.
      let hasFailed = remove(id)?.state == .failed
      return [.closeNotification(id)] + (hasFailed ? [] : [.announceClosed(id, .dismissed)])
    }
  }

  private mutating func stored(_ offer: TapOffer) -> [Action] {
    guard let left = tapOfTag[offer.tag].flatMap({ remove($0) })?.offer else {
      return put(offer, .received) + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    let previous = left.id
    replaced.append(left)
    if replaced.count > TapPolicy.maximumOnScreen { replaced.removeFirst() }
    // A click on its way to what was there must not become an answer to what is asked now.
    guard offer.question == .nothing else {
      return [
        .move(previous, to: .dismissed, reason: TapReason(.tappedAgain)), .closeNotification(previous),
        .announceClosed(previous, .dismissed),
      ] + put(offer, .received) + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    // In the other's place, so nothing has to leave.
    _ = put(offer, .received)
    return [
      .move(previous, to: .dismissed, reason: TapReason(.tappedAgain)), .announceReceived(offer.id),
      .show(offer, replacing: previous), .announceClosed(previous, .dismissed),
    ]
  }

  private mutating func resumed(_ offer: TapOffer, _ state: TapState, _ reason: TapReason) -> [Action] {
    guard offer.isShown else {
      // An earlier run may have left it on the screen.
      let (end, reason) =
        state == .failed ? (TapState.expired, reason) : (.failed, TapReason(.refused, detail: offer.reason))
      return [.move(offer.id, to: end, reason: reason), .closeNotification(offer.id), .announceClosed(offer.id, end)]
    }
    let leaving = put(offer, state, failure: state == .failed ? reason : nil, isEarlier: true)
    // Newer ones may have the screen already.
    guard onScreen[offer.id] != nil else { return leaving }
    return leaving + [state == .failed ? .showFailure(offer, reason: reason) : .show(offer, replacing: nil)]
  }

  /// Of a tap that has left the screen meanwhile, it is as if it had not been clicked, and its state stays what it is.
  private mutating func again(_ offer: TapOffer, _ failure: TapReason?) -> [Action] {
    guard let present = onScreen[offer.id] else {
      let newer = tapOfTag[offer.tag]
      let leaving = put(offer, .shown)
      if let newer, onScreen[newer] != nil { tapOfTag[offer.tag] = newer }
      return leaving + [.show(offer, replacing: nil)]
    }
    onScreen[offer.id] = OnScreen(offer: offer, state: present.state, failure: present.failure, number: present.number)
    if let failure, present.state == .failed { return [.showFailure(offer, reason: failure)] }
    return [.show(offer, replacing: nil)]
  }

  private mutating func handedOver(_ offer: TapOffer, _ outcome: HandOverOutcome) -> [Action] {
    guard let reason = outcome.failure else {
      return [.move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered)]
    }
    return [.move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed)]
      + put(offer, .failed, failure: reason)
      + [.showFailure(offer, reason: reason)]
  }

  /// Where another app has been given the tap, or the user has closed it, it comes too late.
  private mutating func answered(_ offer: TapOffer, _ outcome: HandOverOutcome) -> [Action] {
    guard unanswered.answered(offer, outcome) else { return [] }
    switch outcome {
    case .delivered:
      let closing: [Action] = remove(offer.id) == nil ? [] : [.closeNotification(offer.id)]
      return [.move(offer.id, to: .delivered, reason: .none)] + closing + [.announceClosed(offer.id, .delivered)]
    case .failed:
      let reason = outcome.failure ?? .none
      // What has left the screen is not put there again; the list says why.
      guard let shown = onScreen[offer.id] else { return [.move(offer.id, to: .expired, reason: reason)] }
      onScreen[offer.id]?.failure = reason
      return [.move(offer.id, to: .failed, reason: reason), .showFailure(shown.offer, reason: reason)]
    case .unknown: return []
    }
  }

  private mutating func closed(_ id: String, _ reason: NotificationCloseReason) -> [Action] {
    guard let tap = remove(id) else { return [] }
    switch (tap.state, reason) {
    case (_, .dismissed):
      return [.move(id, to: .dismissed, reason: .none), .announceClosed(id, .dismissed)]
    // Whoever closed it was not the user: it can still be opened from the inbox.
    case (_, .expired), (_, .closed), (_, .undefined):
      return [.move(id, to: .expired, reason: tap.failure ?? .none), .announceClosed(id, .expired)]
    }
  }

  /// Gives a tap its place on the screen, and the oldest no longer has one where there are too many.
  private mutating func put(
    _ offer: TapOffer, _ state: TapState, failure: TapReason? = nil, isEarlier: Bool = false
  ) -> [Action] {
    if isEarlier { lastEarlierNumber += 1 } else { lastNumber += 1 }
    let number = isEarlier ? lastEarlierNumber : lastNumber
    onScreen[offer.id] = OnScreen(offer: offer, state: state, failure: failure, number: number)
    // A newer tap of the same tag is the one that the next replaces, not an older one that failed or was found meanwhile.
    let present = tapOfTag[offer.tag].flatMap { onScreen[$0]?.number }
    if present.map({ state != .failed && $0 < number }) ?? true { tapOfTag[offer.tag] = offer.id }
    guard onScreen.count > TapPolicy.maximumOnScreen,
      let oldest = onScreen.values.min(by: { $0.number < $1.number }), remove(oldest.offer.id) != nil
    else { return [] }
    let id = oldest.offer.id
    return [
      .move(id, to: .expired, reason: oldest.failure ?? TapReason(.madeRoom)), .closeNotification(id),
      .announceClosed(id, .expired),
    ]
  }

  private mutating func remove(_ id: String) -> OnScreen? {
    guard let tap = onScreen.removeValue(forKey: id) else { return nil }
    if tapOfTag[tap.offer.tag] == id { tapOfTag[tap.offer.tag] = nil }
    return tap
  }
}

extension TapPolicy.Action {
  /// The tap that it is about.
  var id: String {
    switch self {
    case .move(let id, _, _), .putOnScreen(let id, _), .closeNotification(let id), .announceReceived(let id),
      .announceClosed(let id, _), .remember(let id, _):
      id
    case .begin(let offer, _, _), .show(let offer, _), .showFailure(let offer, _), .handOver(let offer, _),
      .awaitAnswer(let offer):
      offer.id
    }
  }
}
