import Handlers
import Inbox
import Names
import Notifications
import Routing

/// Decides what happens to each tap, from its storage to its end.
///
/// Pure: the agent carries out the actions in order. It commits an ``Action/move(_:to:reason:)`` before it begins the
/// next action. If the inbox refuses the move, the agent skips that tap's other actions. So every visible effect is
/// still known after a restart.
struct TapPolicy {
  enum Event {
    case stored(TapOffer)
    /// A tap of an earlier run is ``TapState/received``, ``TapState/shown`` or ``TapState/failed``. `showsFailure` as in
    /// ``again(_:failure:showsFailure:)``.
    case resumed(TapOffer, TapState, reason: TapReason, showsFailure: Bool = true)
    case shown(String, at: NotificationPlace)
    /// ``TapState/opening`` is committed, after a click or a call. A click may be a choice of the app.
    case opening(TapOffer, token: String?, choice: HandlerChoices.Change? = nil)
    /// The tap was decided again and has to be shown: a click did not answer the question, or something has changed.
    /// `failure` says why the tap has failed, in any app; nil if it has not. `showsFailure` is false if the notification
    /// must not say so, for example because this offer has another app.
    case again(TapOffer, failure: TapReason? = nil, showsFailure: Bool = true)
    /// The tap on the screen has no contents any more that can be opened or shown.
    case withdrawn(TapOffer)
    /// The hand-over has ended. If the app has not answered in time, its answer may still come.
    case handedOver(TapOffer, HandOverOutcome, answer: PendingAnswer? = nil)
    /// An answer has come after the wait for it, or the program of a rule has ended. No hand-over of the tap is under
    /// way.
    case answered(TapOffer, HandOverOutcome)
    /// The program of `OnRemove=` begins. How the program of `Run=` ends has no effect from now on.
    case undone(String)
    /// The notification has disappeared without a click.
    case closed(String, NotificationCloseReason)
    case dismiss(String)
    /// `hasFailed` according to the inbox.
    case expired(String, hasFailed: Bool = false)
    /// By a call, while the tap was on the screen.
    case cleared(String)
  }

  enum Action: Equatable {
    case move(String, to: TapState, reason: TapReason)
    /// Commit the notification's place, and ``TapState/shown`` with the first one.
    case putOnScreen(String, at: NotificationPlace)
    /// Show the notification, in the place of another tap's. `isNews` is false if the user has seen the tap before.
    case show(TapOffer, replacing: String?, isNews: Bool = true)
    /// Show that the tap has failed. `isNews` is false if the user has seen the failure before.
    case showFailure(TapOffer, reason: TapReason, isNews: Bool = true)
    /// Show that the tap was opened without a click, in the place of an earlier such notification of the tag.
    case showOpened(TapOffer, replacing: String? = nil)
    case closeNotification(String)
    case remember(String, HandlerChoices.Change)
    /// Write the rule that opens the tag without a click.
    case openAlways(TapOffer)
    /// Hand the tap over to the app, or copy it if there is none.
    case handOver(TapOffer, token: String?)
    /// Wait again for the app's answer: a second hand-over would give it the tap twice.
    case awaitAnswer(TapOffer, PendingAnswer)
    case announceReceived(String)
    case announceClosed(String, TapState)
  }

  private struct OnScreen {
    let offer: TapOffer
    var state: TapState
    var failure: TapReason?
    let number: Int
  }

  /// An app's call that has not been answered in time.
  private struct PendingCall {
    let answer: PendingAnswer
    /// The tap was given to another app since then, so the answer no longer changes the tap's state.
    var isOvertaken = false
  }

  static let maximumOnScreen = 20

  /// Taps with a notification, or waiting for one.
  private var onScreen: [String: OnScreen] = [:]
  private var tapOfTag: [TagIdentity: String] = [:]
  /// While an app's call for a tap is here, the app does not get that tap again, even if other apps were tried
  /// meanwhile.
  private var pendingCalls: [TapOffer.HandOverKey: PendingCall] = [:]
  private var lastNumber = 0
  /// Taps of an earlier run are older than all taps of this one, so they get negative numbers.
  private var lastEarlierNumber = Int.min
  /// Taps that another tap of the same tag has replaced on the screen. A click on one may still be on its way.
  private var replaced: [TapOffer] = []
  /// Those with a notification about an opening without a click, the newest last.
  private var openedAtOnce: [TapOffer] = []

  /// How many taps have a notification, or wait for one.
  var count: Int { onScreen.count }

  /// The oldest first.
  var onScreenInOrder: [String] { onScreen.values.sorted { $0.number < $1.number }.map(\.offer.id) }

  /// The offer in the tap's notification; nil if it has none.
  func offer(_ id: String) -> TapOffer? { onScreen[id]?.offer }

  /// Whether a tap on the screen has failed, also if its notification does not say so.
  func hasFailed(_ id: String) -> Bool { onScreen[id]?.state == .failed }

  /// The answer that the app has not given in time.
  func pendingAnswer(of offer: TapOffer) -> PendingAnswer? { pendingCalls[offer.handOverKey]?.answer }

  /// As the tap's notification says.
  func isOpenedAtOnce(_ id: String) -> Bool { onScreen[id] == nil && openedAtOnce.contains { $0.id == id } }

  /// By another tap of the same tag, on the screen.
  func isReplaced(_ id: String) -> Bool { onScreen[id] == nil && replaced.contains { $0.id == id } }

  /// The meaning of a click. Only the offer that the user saw can be answered: the one on the screen, or the one that
  /// was replaced there.
  func answer(to action: String, of id: String) -> TapOffer.Answer {
    if onScreen[id] == nil, let opened = openedAtOnce.last(where: { $0.id == id }) {
      return action == TapOffer.ButtonKey.askNextTime ? .askNextTime(opened) : .nothing
    }
    let offer = onScreen[id]?.offer ?? replaced.last { $0.id == id }
    return offer?.answer(to: action) ?? .showAgain
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .stored(let offer): return stored(offer)
    case .resumed(let offer, let state, let reason, let showsFailure):
      return resumed(offer, state, reason, showsFailure: showsFailure)
    case .shown(let id, let place):
      // The tap has left the screen meanwhile, and its notification is being closed.
      guard let state = onScreen[id]?.state else { return [] }
      if state == .received { onScreen[id]?.state = .shown }
      return [.putOnScreen(id, at: place)]
    case .opening(let offer, let token, let choice):
      let remembering: [Action] = choice.map { [.remember(offer.id, $0)] } ?? []
      // Another try after a failure does not write the rule a second time.
      let handOver = handOver(offer.manner == .always ? offer.opening(.once) : offer, token)
      var actions = close(offer.id)
      if offer.manner == .withoutClick { actions += dismissEarlier(of: offer) }
      return actions + remembering + [handOver] + (offer.manner == .always ? [.openAlways(offer)] : [])
    case .again(let offer, let failure, let showsFailure): return again(offer, failure, showsFailure: showsFailure)
    case .withdrawn(let offer):
      let (state, reason) = offer.ending
      // A failure was announced already.
      let isAnnounced = hasFailed(offer.id) && state == .failedOffScreen
      return [.move(offer.id, to: state, reason: reason)] + close(offer.id)
        + (isAnnounced ? [] : [.announceClosed(offer.id, state)])
    case .handedOver(let offer, let outcome, let answer):
      pendingCalls[offer.handOverKey] = answer.map { PendingCall(answer: $0) }
      return handedOver(offer, outcome)
    case .answered(let offer, let outcome): return answered(offer, outcome)
    case .undone(let id):
      pendingCalls = pendingCalls.filter { $0.key.tap != id }
      return []
    case .closed(let id, let reason): return closed(id, reason)
    case .dismiss(let id):
      let reason = onScreen[id]?.failure ?? .none
      return [.move(id, to: .dismissed, reason: reason)] + close(id) + [.announceClosed(id, .dismissed)]
    case .expired(let id, let hasFailed):
      forget(id)
      guard let tap = remove(id) else { return hasFailed ? [] : [.announceClosed(id, .expired)] }
      return [.closeNotification(id)] + end(tap, as: .expired).announcement
    case .cleared(let id):
      forget(id)
      // Close it even if it is not on the screen: a click that the inbox refused has left the notification there.
      let hasFailed = remove(id)?.state == .failed
      return [.closeNotification(id)] + (hasFailed ? [] : [.announceClosed(id, .dismissed)])
    }
  }

  private mutating func stored(_ offer: TapOffer) -> [Action] {
    guard let previous = replace(offer.read.tag) else {
      return put(offer, .received) + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    // A click on the old notification may be on its way. It must not answer the new question, so the question gets a
    // new notification.
    guard offer.question == .nothing else {
      return leave(previous, as: .dismissed, because: .tappedAgain) + put(offer, .received)
        + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    // It takes the other's place, so no other tap has to make room.
    _ = put(offer, .received)
    let end = end(previous, as: .dismissed, because: .tappedAgain)
    return [end.move, .announceReceived(offer.id), .show(offer, replacing: previous.offer.id)] + end.announcement
  }

  /// Returns the tag's earlier tap; nil if there is none on the screen.
  private mutating func replace(_ tag: TagIdentity) -> OnScreen? {
    guard let left = tapOfTag[tag].flatMap({ remove($0) }) else { return nil }
    replaced.append(left.offer)
    if replaced.count > TapPolicy.maximumOnScreen { replaced.removeFirst() }
    return left
  }

  private mutating func dismissEarlier(of offer: TapOffer) -> [Action] {
    replace(offer.read.tag).map { leave($0, as: .dismissed, because: .tappedAgain) } ?? []
  }

  /// The end of a tap that the user has not answered. A failed tap stays failed, which was announced when it failed.
  private func end(
    _ tap: OnScreen, as state: TapState, because code: TapReason.Code = .none
  ) -> (move: Action, announcement: [Action]) {
    let id = tap.offer.id
    return tap.state == .failed
      ? (.move(id, to: .failedOffScreen, reason: tap.failure ?? .none), [])
      : (.move(id, to: state, reason: TapReason(code)), [.announceClosed(id, state)])
  }

  private func leave(_ tap: OnScreen, as state: TapState, because code: TapReason.Code) -> [Action] {
    let end = end(tap, as: state, because: code)
    return [end.move, .closeNotification(tap.offer.id)] + end.announcement
  }

  private mutating func resumed(
    _ offer: TapOffer, _ state: TapState, _ reason: TapReason, showsFailure: Bool
  ) -> [Action] {
    guard offer.isShown else {
      // The earlier run may have left its notification.
      if state == .failed {
        return [.move(offer.id, to: .failedOffScreen, reason: reason), .closeNotification(offer.id)]
      }
      let (end, why) = offer.ending
      return [.move(offer.id, to: end, reason: why), .closeNotification(offer.id), .announceClosed(offer.id, end)]
    }
    let leaving = put(offer, state, failure: state == .failed ? reason : nil, isEarlier: true)
    // Newer taps may fill the screen already.
    guard onScreen[offer.id] != nil else { return leaving }
    return leaving + [
      state == .failed && showsFailure
        ? .showFailure(offer, reason: reason, isNews: false)
        : .show(offer, replacing: nil, isNews: state == .received)
    ]
  }

  /// A tap that has left the screen is shown there again, and keeps its state in the inbox.
  private mutating func again(_ offer: TapOffer, _ failure: TapReason?, showsFailure: Bool) -> [Action] {
    guard let present = onScreen[offer.id] else {
      let newer = tapOfTag[offer.read.tag]
      let leaving = put(offer, failure == nil ? .shown : .failed, failure: failure)
      if let newer, onScreen[newer] != nil { tapOfTag[offer.read.tag] = newer }
      return leaving + [.show(offer, replacing: nil, isNews: false)]
    }
    onScreen[offer.id] = OnScreen(offer: offer, state: present.state, failure: present.failure, number: present.number)
    if showsFailure, let failure, present.state == .failed {
      return [.showFailure(offer, reason: failure, isNews: false)]
    }
    return [.show(offer, replacing: nil, isNews: false)]
  }

  private mutating func handedOver(_ offer: TapOffer, _ outcome: HandOverOutcome) -> [Action] {
    guard let reason = outcome.failure else {
      return [.move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered)]
        + (offer.manner == .withoutClick ? showOpened(offer) : [])
    }
    return failed(offer, reason)
  }

  private mutating func failed(_ offer: TapOffer, _ reason: TapReason) -> [Action] {
    // A click decides about another try.
    let failed = offer.manner == .withoutClick ? offer.opening(.once) : offer
    return [.move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed)]
      + put(failed, .failed, failure: reason)
      + [.showFailure(failed, reason: reason)]
  }

  /// One such notification for each tag, and at most ``maximumOnScreen``.
  private mutating func showOpened(_ offer: TapOffer) -> [Action] {
    let previous = openedAtOnce.last { $0.read.tag == offer.read.tag && onScreen[$0.id] == nil }
    openedAtOnce.removeAll { $0.read.tag == offer.read.tag }
    openedAtOnce.append(offer)
    let shown: [Action] = [.showOpened(offer, replacing: previous?.id)]
    guard openedAtOnce.count > TapPolicy.maximumOnScreen else { return shown }
    // Its button would have no effect.
    let oldest = openedAtOnce.removeFirst()
    return shown + (onScreen[oldest.id] == nil ? [.closeNotification(oldest.id)] : [])
  }

  /// If a call to the same app is pending, waits for its answer again. Calls to other apps are overtaken.
  private mutating func handOver(_ offer: TapOffer, _ token: String?) -> Action {
    let key = offer.handOverKey
    for other in pendingCalls.keys where other.tap == offer.id { pendingCalls[other]?.isOvertaken = other != key }
    return pendingAnswer(of: offer).map { .awaitAnswer(offer, $0) } ?? .handOver(offer, token: token)
  }

  private mutating func answered(_ offer: TapOffer, _ outcome: HandOverOutcome) -> [Action] {
    guard let call = pendingCalls.removeValue(forKey: offer.handOverKey), !call.isOvertaken else { return [] }
    // The tap is delivered since the program has started.
    if offer.command != nil {
      guard let reason = outcome.failure else { return [] }
      openedAtOnce.removeAll { $0.id == offer.id }
      return failed(offer, reason)
    }
    switch outcome {
    case .delivered:
      let delivered: [Action] = [.move(offer.id, to: .delivered, reason: .none)]
      guard offer.manner == .withoutClick else {
        return delivered + close(offer.id) + [.announceClosed(offer.id, .delivered)]
      }
      // Its notification replaces the one that says that it may have failed.
      _ = remove(offer.id)
      return delivered + [.announceClosed(offer.id, .delivered)] + showOpened(offer)
    case .failed:
      let reason = outcome.failure ?? .none
      // A tap that has left the screen is not shown again. The list says why it has failed.
      guard let shown = onScreen[offer.id] else { return [.move(offer.id, to: .failedOffScreen, reason: reason)] }
      onScreen[offer.id]?.failure = reason
      return [.move(offer.id, to: .failed, reason: reason), .showFailure(shown.offer, reason: reason)]
    case .unknown: return []
    }
  }

  private mutating func closed(_ id: String, _ reason: NotificationCloseReason) -> [Action] {
    guard let tap = remove(id) else { return [] }
    guard reason == .dismissed else {
      let end = end(tap, as: .expired)
      return [end.move] + end.announcement
    }
    return [.move(id, to: .dismissed, reason: tap.failure ?? .none), .announceClosed(id, .dismissed)]
  }

  /// If there are too many, the oldest leaves.
  private mutating func put(
    _ offer: TapOffer, _ state: TapState, failure: TapReason? = nil, isEarlier: Bool = false
  ) -> [Action] {
    if isEarlier { lastEarlierNumber += 1 } else { lastNumber += 1 }
    let number = isEarlier ? lastEarlierNumber : lastNumber
    onScreen[offer.id] = OnScreen(offer: offer, state: state, failure: failure, number: number)
    // The next tap of this tag replaces the newest one, not an older one that failed or was resumed meanwhile.
    let present = tapOfTag[offer.read.tag].flatMap { onScreen[$0]?.number }
    if present.map({ state != .failed && $0 < number }) ?? true { tapOfTag[offer.read.tag] = offer.id }
    guard onScreen.count > TapPolicy.maximumOnScreen,
      let oldest = onScreen.values.min(by: { $0.number < $1.number }), remove(oldest.offer.id) != nil
    else { return [] }
    return leave(oldest, as: .expired, because: .madeRoom)
  }

  /// The inbox has the tap no more, so what was on its tag is not kept here either.
  private mutating func forget(_ id: String) {
    replaced.removeAll { $0.id == id }
    openedAtOnce.removeAll { $0.id == id }
  }

  private mutating func close(_ id: String) -> [Action] { remove(id) == nil ? [] : [.closeNotification(id)] }

  private mutating func remove(_ id: String) -> OnScreen? {
    guard let tap = onScreen.removeValue(forKey: id) else { return nil }
    if tapOfTag[tap.offer.read.tag] == id { tapOfTag[tap.offer.read.tag] = nil }
    return tap
  }
}

extension TapPolicy.Action {
  var id: String {
    switch self {
    case .move(let id, _, _), .putOnScreen(let id, _), .closeNotification(let id), .announceReceived(let id),
      .announceClosed(let id, _), .remember(let id, _):
      id
    case .show(let offer, _, _), .showFailure(let offer, _, _), .showOpened(let offer, _), .handOver(let offer, _),
      .awaitAnswer(let offer, _), .openAlways(let offer):
      offer.id
    }
  }
}
