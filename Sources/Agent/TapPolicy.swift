import Handlers
import Inbox
import Notifications
import Routing

/// What is done about each tap, from its storing to its end. Pure: the agent carries out what it decides, in order.
///
/// A ``Action/move(_:to:reason:)`` is committed before the action that follows it is begun, and where it is refused (somebody
/// else was faster) nothing that follows it is done for that tap. So no effect is seen that a restart would not know of.
struct TapPolicy {
  /// Something that happened.
  enum Event {
    /// A new tap is in the inbox.
    case stored(TapOffer)
    /// A tap of an earlier run is still ``TapState/received``, ``TapState/shown`` or just ``TapState/failed``.
    case resumed(TapOffer, TapState, reason: String)
    /// A server has taken its notification.
    case shown(String)
    /// The user wants it opened: a click, which may be a choice, or a call.
    case open(TapOffer, token: String?, choice: HandlerChoices.Change? = nil)
    /// A click that was no answer to what this offer asks.
    case again(TapOffer)
    /// The hand-over is over.
    case handedOver(TapOffer, HandOverOutcome)
    /// Its notification is gone without a click.
    case closed(String, NotificationCloseReason)
    /// The user wants it gone: a call.
    case dismiss(String)
    /// The retention has ended it.
    case expired(String)
  }

  /// Something to do.
  enum Action: Equatable {
    /// Commit the state.
    case move(String, to: TapState, reason: String)
    /// Commit ``TapState/opening``, and who opens it.
    case begin(TapOffer)
    /// Let go of what the inbox keeps only for as long as it is on the screen.
    case release(String)
    /// Show its notification, in the place of another tap's.
    case show(TapOffer, replacing: String?)
    /// Show that it failed.
    case showFailure(TapOffer, reason: String)
    /// Take its notification away.
    case closeNotification(String)
    /// Keep what the user has chosen.
    case remember(String, HandlerChoices.Change)
    /// Hand it over; put it on the clipboard where nobody opens it.
    case handOver(TapOffer, token: String?)
    /// Emit `TapReceived`.
    case announceReceived(String)
    /// Emit `TapClosed`.
    case announceClosed(String, TapState)
  }

  private struct OnScreen {
    let offer: TapOffer
    var state: TapState
    let number: Int
  }

  /// More notifications than this are not on the screen at once, whatever is put on the reader.
  static let maximumOnScreen = 20

  /// Taps with a notification, or waiting for one.
  private var onScreen: [String: OnScreen] = [:]
  private var tapOfTag: [TagIdentity: String] = [:]
  private var lastNumber = 0

  /// How many taps have a notification, or wait for one.
  var count: Int { onScreen.count }

  /// The offer whose notification is up.
  func offer(_ id: String) -> TapOffer? { onScreen[id]?.offer }

  /// What a click means: only what is up can be answered, and what that was is not known of a tap that has left the screen meanwhile.
  func answer(to action: String, of id: String, canCopy: Bool) -> TapOffer.Answer {
    onScreen[id]?.offer.answer(to: action, canCopy: canCopy) ?? .showAgain
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .stored(let offer): return stored(offer)
    case .resumed(let offer, let state, let reason): return resumed(offer, state, reason)
    case .shown(let id):
      guard onScreen[id]?.state == .received else { return [] }
      onScreen[id]?.state = .shown
      return [.move(id, to: .shown, reason: "")]
    case .open(let offer, let token, let choice):
      let closing: [Action] = remove(offer.id) == nil ? [] : [.closeNotification(offer.id)]
      let remembering: [Action] = choice.map { [.remember(offer.id, $0)] } ?? []
      return [.begin(offer)] + closing + remembering + [.handOver(offer, token: token)]
    case .again(let offer): return again(offer)
    case .handedOver(let offer, let outcome): return handedOver(offer, outcome)
    case .closed(let id, let reason): return closed(id, reason)
    case .dismiss(let id):
      let closing: [Action] = remove(id) == nil ? [] : [.closeNotification(id)]
      return [.move(id, to: .dismissed, reason: "")] + closing + [.announceClosed(id, .dismissed)]
    case .expired(let id):
      let closing: [Action] = remove(id) == nil ? [] : [.closeNotification(id)]
      return closing + [.announceClosed(id, .expired)]
    }
  }

  private mutating func stored(_ offer: TapOffer) -> [Action] {
    guard let previous = tapOfTag[offer.tag].flatMap({ remove($0) })?.offer.id else {
      return put(offer, .received) + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    // A click on its way to what was there must not become an answer to what is asked now.
    guard offer.question == .nothing else {
      return [
        .move(previous, to: .dismissed, reason: Messages.tappedAgain), .closeNotification(previous),
        .announceClosed(previous, .dismissed),
      ] + put(offer, .received) + [.announceReceived(offer.id), .show(offer, replacing: nil)]
    }
    // In the other's place, so nothing has to leave.
    _ = put(offer, .received)
    return [
      .move(previous, to: .dismissed, reason: Messages.tappedAgain), .announceReceived(offer.id),
      .show(offer, replacing: previous), .announceClosed(previous, .dismissed),
    ]
  }

  private mutating func resumed(_ offer: TapOffer, _ state: TapState, _ reason: String) -> [Action] {
    guard offer.isShown else {
      guard state != .failed else { return [] }
      return [.move(offer.id, to: .failed, reason: offer.reason), .announceClosed(offer.id, .failed)]
    }
    return put(offer, state) + [
      state == .failed ? .showFailure(offer, reason: reason) : .show(offer, replacing: nil)
    ]
  }

  /// Of a tap that has left the screen meanwhile, it is as if it had not been clicked, and its state stays what it is.
  private mutating func again(_ offer: TapOffer) -> [Action] {
    guard let present = onScreen[offer.id] else {
      let newer = tapOfTag[offer.tag]
      let leaving = put(offer, .shown)
      if let newer, onScreen[newer] != nil { tapOfTag[offer.tag] = newer }
      return leaving + [.show(offer, replacing: nil)]
    }
    onScreen[offer.id] = OnScreen(offer: offer, state: present.state, number: present.number)
    return [.show(offer, replacing: nil)]
  }

  private mutating func handedOver(_ offer: TapOffer, _ outcome: HandOverOutcome) -> [Action] {
    switch outcome {
    case .delivered:
      return [.move(offer.id, to: .delivered, reason: ""), .announceClosed(offer.id, .delivered)]
    case .failed(let reason, _): return failed(offer, Messages.failure(reason))
    case .unknown(let reason): return failed(offer, Messages.unknown(reason))
    }
  }

  private mutating func failed(_ offer: TapOffer, _ reason: String) -> [Action] {
    [.move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed)] + put(offer, .failed)
      + [.showFailure(offer, reason: reason)]
  }

  private mutating func closed(_ id: String, _ reason: NotificationCloseReason) -> [Action] {
    guard let tap = remove(id) else { return [] }
    switch (tap.state, reason) {
    case (_, .dismissed):
      return [.move(id, to: .dismissed, reason: ""), .announceClosed(id, .dismissed)]
    case (.failed, _): return [.release(id)]
    // Whoever closed it was not the user: it can still be opened from the inbox.
    case (_, .expired), (_, .closed), (_, .undefined):
      return [.move(id, to: .expired, reason: ""), .announceClosed(id, .expired)]
    }
  }

  /// Gives a tap its place on the screen, and the oldest no longer has one where there are too many.
  private mutating func put(_ offer: TapOffer, _ state: TapState) -> [Action] {
    lastNumber += 1
    onScreen[offer.id] = OnScreen(offer: offer, state: state, number: lastNumber)
    // A newer tap of the same tag is the one that the next replaces, not an older one that failed meanwhile.
    if state != .failed || tapOfTag[offer.tag] == nil { tapOfTag[offer.tag] = offer.id }
    guard onScreen.count > TapPolicy.maximumOnScreen,
      let oldest = onScreen.values.min(by: { $0.number < $1.number }), remove(oldest.offer.id) != nil
    else { return [] }
    let id = oldest.offer.id
    guard oldest.state != .failed else { return [.closeNotification(id), .release(id)] }
    return [
      .move(id, to: .expired, reason: Messages.madeRoom), .closeNotification(id), .announceClosed(id, .expired),
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
    case .move(let id, _, _), .release(let id), .closeNotification(let id), .announceReceived(let id),
      .announceClosed(let id, _), .remember(let id, _):
      id
    case .begin(let offer), .show(let offer, _), .showFailure(let offer, _), .handOver(let offer, _): offer.id
    }
  }
}
