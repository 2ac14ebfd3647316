import EventLoop
import Inbox
import NDEF
import Names
import Notifications
import Routing
import Testing

@testable import Agent
@testable import Handlers

struct TapPolicyTests {
  private let offer: TapOffer
  private var policy = TapPolicy()

  init() throws { offer = try sampleOffer(1) }

  @Test mutating func `a tap is shown, opened and delivered, and each state is stored before its effect`() throws {
    #expect(policy.handle(.stored(offer)) == [.announceReceived(offer.id), .show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    #expect(policy.open(offer, token: "t") == [.closeNotification(offer.id), .handOver(offer, token: "t")])
    #expect(
      policy.handle(.handedOver(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
    #expect(policy.count == 0)
  }

  @Test mutating func `a tap shown on another server has its new place, and a closed one has none`() {
    _ = policy.handle(.stored(offer))
    _ = policy.handle(.shown(offer.id, at: samplePlace))
    let other = NotificationPlace(bus: "bus", owner: ":1.8", id: 1)
    #expect(policy.handle(.shown(offer.id, at: other)) == [.putOnScreen(offer.id, at: other)])
    #expect(policy.handle(.closed(offer.id, .expired)).contains(.move(offer.id, to: .expired, reason: .none)))
    #expect(policy.handle(.shown(offer.id, at: samplePlace)).isEmpty)
  }

  @Test mutating func `a tap removed from the inbox leaves the screen, also after a refused click`() throws {
    let (waiting, failed) = (try sampleOffer(1), try sampleOffer(2))
    _ = policy.handle(.stored(waiting))
    _ = policy.handle(.resumed(failed, .failed, reason: .none))
    #expect(
      policy.handle(.cleared(waiting.id)) == [
        .closeNotification(waiting.id), .announceClosed(waiting.id, .dismissed),
      ])
    // Its end was announced when it failed.
    #expect(policy.handle(.cleared(failed.id)) == [.closeNotification(failed.id)])
    #expect(policy.count == 0)
    // After a click that the inbox refused, the notification is still there.
    #expect(policy.handle(.cleared(waiting.id)).first == .closeNotification(waiting.id))
  }

  @Test mutating func `only a tap on the screen can be answered`() throws {
    #expect(policy.answer(to: "open", of: offer.id) == .showAgain)
    _ = policy.handle(.stored(offer))
    #expect(policy.answer(to: "open", of: offer.id) == .open(offer, nil))
    _ = policy.handle(.dismiss(offer.id))
    #expect(policy.answer(to: "open", of: offer.id) == .showAgain)
  }

  @Test mutating func `a tap is shown again after a click that is no answer`() throws {
    let offer = try sampleOffer(1, tag: 7, question: .which)
    _ = policy.handle(.stored(offer))
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil, isNews: false)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    // The policy knows no state of a tap that has left the screen. The next tap of its tag replaces the newer one.
    _ = policy.handle(.closed(offer.id, .expired))
    let (second, third) = (try sampleOffer(2, tag: 7), try sampleOffer(3, tag: 7))
    _ = policy.handle(.stored(second))
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil, isNews: false)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    #expect(policy.offer(offer.id) == offer)
    #expect(policy.handle(.stored(third)).contains(.show(third, replacing: second.id)))
  }

  @Test mutating func `a failed tap that is routed again still shows the failure if the app is the same`() throws {
    _ = policy.handle(.resumed(offer, .failed, reason: TapReason(.notStarted, detail: "why")))
    #expect(
      policy.handle(.again(offer, failure: TapReason(.notStarted, detail: "why"))) == [
        .showFailure(offer, reason: TapReason(.notStarted, detail: "why"), isNews: false)
      ])
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil, isNews: false)])
    _ = policy.open(offer, token: nil)
    #expect(policy.onScreenInOrder.isEmpty)
  }

  @Test func `a failed tap that is shown again stays failed if the user does not answer`() throws {
    let failure = TapReason(.notStarted, detail: "why")
    let offer = try sampleOffer(1, tag: 7)
    var shown = TapPolicy()
    #expect(
      shown.handle(.again(offer, failure: failure, showsFailure: false)) == [
        .show(offer, replacing: nil, isNews: false)
      ])
    #expect(shown.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    let move = TapPolicy.Action.move(offer.id, to: .failedOffScreen, reason: failure)

    var expired = shown
    #expect(expired.handle(.closed(offer.id, .expired)) == [move])

    var tappedAgain = shown
    let second = try sampleOffer(2, tag: 7)
    #expect(
      tappedAgain.handle(.stored(second)) == [
        move, .announceReceived(second.id), .show(second, replacing: offer.id),
      ])

    var full = shown
    for number in 10..<(9 + TapPolicy.maximumOnScreen) { _ = full.handle(.stored(try sampleOffer(number))) }
    let last = try sampleOffer(100)
    #expect(
      full.handle(.stored(last)) == [
        move, .closeNotification(offer.id), .announceReceived(last.id), .show(last, replacing: nil),
      ])

    var dismissed = shown
    #expect(
      dismissed.handle(.closed(offer.id, .dismissed)) == [
        .move(offer.id, to: .dismissed, reason: failure), .announceClosed(offer.id, .dismissed),
      ])
  }

  @Test mutating func `a failed tap that is shown again is not replaced in place of a newer one of its tag`() throws {
    let (failed, second, third) = (
      try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7), try sampleOffer(3, tag: 7)
    )
    _ = policy.handle(.stored(second))
    _ = policy.handle(.again(failed, failure: TapReason(.notStarted), showsFailure: false))
    #expect(policy.handle(.stored(third)).contains(.show(third, replacing: second.id)))
    #expect(policy.hasFailed(failed.id))
  }

  @Test mutating func `the end of a failed tap is not announced a second time`() throws {
    let read = try TagRead(tapValues(1, message: try uriMessage("javascript:1")), now: sampleMicroseconds)
    let refused = TapOffer(read, registry: Registry(declarations: []), policy: RoutingPolicy(), languages: [])
    let (state, reason) = refused.ending
    #expect(state == .failedOffScreen)
    let withdrawn: [TapPolicy.Action] = [
      .move(offer.id, to: .failedOffScreen, reason: reason), .closeNotification(offer.id),
    ]
    _ = policy.handle(.resumed(offer, .failed, reason: TapReason(.notStarted)))
    #expect(policy.handle(.withdrawn(refused)) == withdrawn)
    _ = policy.handle(.stored(offer))
    #expect(policy.handle(.withdrawn(refused)) == withdrawn + [.announceClosed(offer.id, .failedOffScreen)])
    // It has left the screen.
    #expect(policy.handle(.expired(offer.id, hasFailed: true)).isEmpty)
    #expect(policy.handle(.expired(offer.id, hasFailed: false)) == [.announceClosed(offer.id, .expired)])
  }

  @Test(arguments: [
    (NotificationCloseReason.dismissed, TapState.dismissed), (.expired, .expired), (.closed, .expired),
    (.undefined, .expired),
  ])
  mutating func `a notification that closes without a click ends its tap`(
    reason: NotificationCloseReason, state: TapState
  ) {
    _ = policy.handle(.stored(offer))
    #expect(
      policy.handle(.closed(offer.id, reason)) == [
        .move(offer.id, to: state, reason: .none), .announceClosed(offer.id, state),
      ])
    #expect(policy.handle(.closed(offer.id, reason)).isEmpty)
    // The tap can still be opened from the list.
    #expect(policy.open(offer, token: nil) == [.handOver(offer, token: nil)])
  }

  @Test func `a failed tap stays failed when its notification expires, and a dismissed one keeps its reason`() throws {
    let failure = TapReason(.notStarted, detail: "why")
    for (reason, actions) in [
      (NotificationCloseReason.expired, [TapPolicy.Action.move(tapID(1), to: .failedOffScreen, reason: failure)]),
      (.dismissed, [.move(tapID(1), to: .dismissed, reason: failure), .announceClosed(tapID(1), .dismissed)]),
    ] {
      var policy = TapPolicy()
      _ = policy.handle(.resumed(try sampleOffer(1), .failed, reason: TapReason(.notStarted, detail: "why")))
      #expect(policy.handle(.closed(tapID(1), reason)) == actions)
    }
  }

  @Test mutating func `a call dismisses a tap, on the screen or not, and the retention expires one`() throws {
    _ = policy.handle(.stored(offer))
    #expect(
      policy.handle(.dismiss(offer.id)) == [
        .move(offer.id, to: .dismissed, reason: .none), .closeNotification(offer.id),
        .announceClosed(offer.id, .dismissed),
      ])
    #expect(
      policy.handle(.dismiss(offer.id)) == [
        .move(offer.id, to: .dismissed, reason: .none), .announceClosed(offer.id, .dismissed),
      ])
    _ = policy.handle(.stored(offer))
    #expect(policy.handle(.expired(offer.id)) == [.closeNotification(offer.id), .announceClosed(offer.id, .expired)])
    // It was announced when it failed.
    _ = policy.handle(.resumed(offer, .failed, reason: .none))
    #expect(policy.handle(.expired(offer.id)) == [.closeNotification(offer.id)])
  }

  @Test mutating func `the oldest tap leaves the screen if there are too many, and can be opened from the list`()
    throws
  {
    let failed = offer
    _ = policy.handle(.resumed(failed, .failed, reason: TapReason(.notStarted, detail: "why")))
    for number in 2...TapPolicy.maximumOnScreen {
      #expect(policy.handle(.stored(try sampleOffer(number))).count == 2)
    }
    let (next, last) = (try sampleOffer(101), try sampleOffer(102))
    #expect(
      policy.handle(.stored(next)) == [
        .move(failed.id, to: .failedOffScreen, reason: TapReason(.notStarted, detail: "why")),
        .closeNotification(failed.id), .announceReceived(next.id), .show(next, replacing: nil),
      ])
    #expect(
      policy.handle(.stored(last)) == [
        .move(tapID(2), to: .expired, reason: TapReason(.madeRoom)), .closeNotification(tapID(2)),
        .announceClosed(tapID(2), .expired), .announceReceived(last.id), .show(last, replacing: nil),
      ])
    #expect(policy.count == TapPolicy.maximumOnScreen)
    #expect(policy.handle(.closed(tapID(2), .closed)).isEmpty)
    // A tap that replaces one of the same tag removes no other tap.
    let again = try sampleOffer(103, tag: 102)
    #expect(policy.handle(.stored(again)).contains(.show(again, replacing: last.id)))
    #expect(policy.count == TapPolicy.maximumOnScreen)
  }
}

/// The effect on a tap when its tag is read again.
struct SameTagPolicyTests {
  private let first: TapOffer
  private let second: TapOffer
  private var policy = TapPolicy()
  init() throws { (first, second) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7)) }

  @Test mutating func `a new tap of the same tag replaces the old one, which is dismissed first`() throws {
    _ = policy.handle(.stored(first))
    #expect(
      policy.handle(.stored(second)) == [
        .move(first.id, to: .dismissed, reason: TapReason(.tappedAgain)), .announceReceived(second.id),
        .show(second, replacing: first.id), .announceClosed(first.id, .dismissed),
      ])
    #expect(policy.count == 1)
    #expect(policy.handle(.closed(first.id, .dismissed)).isEmpty)
  }

  @Test mutating func `a question is shown as a new notification, so a click on the old one is no answer`() throws {
    let second = try sampleOffer(2, tag: 7, question: .whetherAllowed)
    _ = policy.handle(.stored(first))
    #expect(
      policy.handle(.stored(second)) == [
        .move(first.id, to: .dismissed, reason: TapReason(.tappedAgain)), .closeNotification(first.id),
        .announceClosed(first.id, .dismissed), .announceReceived(second.id), .show(second, replacing: nil),
      ])
    #expect(policy.count == 1 && policy.offer(second.id) == second)
  }

  @Test(arguments: [Route.Question.nothing, .whetherAllowed])
  mutating func `a click during a new tap of the same tag opens the tap that was clicked`(question: Route.Question)
    throws
  {
    let second = try sampleOffer(2, tag: 7, question: question)
    _ = policy.handle(.stored(first))
    _ = policy.handle(.stored(second))
    #expect(policy.answer(to: "open", of: first.id) == .open(first, nil))
    #expect(policy.isReplaced(first.id) && !policy.isReplaced(second.id))
    #expect(policy.open(first, token: nil) == [.handOver(first, token: nil)])
    #expect(policy.onScreenInOrder == [second.id])
    // The replaced taps are kept only up to a limit.
    for number in 3...(3 + TapPolicy.maximumOnScreen) { _ = policy.handle(.stored(try sampleOffer(number, tag: 7))) }
    #expect(policy.answer(to: "open", of: first.id) == .showAgain && !policy.isReplaced(first.id))
  }

  @Test mutating func `a failed tap stays failed when its tag is tapped again`() throws {
    let failure = TapReason(.notStarted, detail: "why")
    _ = policy.handle(.resumed(first, .failed, reason: failure))
    #expect(
      policy.handle(.stored(second)) == [
        .move(first.id, to: .failedOffScreen, reason: failure), .announceReceived(second.id),
        .show(second, replacing: first.id),
      ])
  }

  @Test mutating func `a tap of the same tag after a click is a new tap`() throws {
    _ = policy.handle(.stored(first))
    _ = policy.open(first, token: nil)
    #expect(policy.handle(.stored(second)) == [.announceReceived(second.id), .show(second, replacing: nil)])
  }

  @Test mutating func `an old tap that fails late does not hide a newer one of its tag`() throws {
    _ = policy.handle(.stored(first))
    _ = policy.open(first, token: nil)
    _ = policy.handle(.stored(second))
    _ = policy.handle(.handedOver(first, .failed(HandOverFailure(.notStarted, "late"))))
    let third = try sampleOffer(3, tag: 7)
    #expect(policy.handle(.stored(third)).contains(.show(third, replacing: second.id)))
  }
}

/// Unanswered taps of an earlier run in the inbox.
struct EarlierRunPolicyTests {
  @Test func `a tap of an earlier run is shown in its state`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    #expect(policy.handle(.resumed(offer, .shown, reason: .none)) == [.show(offer, replacing: nil, isNews: false)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    // The user has not seen this one.
    let fresh = try sampleOffer(2)
    #expect(policy.handle(.resumed(fresh, .received, reason: .none)) == [.show(fresh, replacing: nil)])
    #expect(policy.handle(.shown(fresh.id, at: samplePlace)) == [.putOnScreen(fresh.id, at: samplePlace)])
    let failed = try sampleOffer(3)
    #expect(
      policy.handle(.resumed(failed, .failed, reason: TapReason(.notStarted, detail: "why"))) == [
        .showFailure(failed, reason: TapReason(.notStarted, detail: "why"), isNews: false)
      ])
    // Another app or program opens this one now.
    let changed = try sampleOffer(4)
    #expect(
      policy.handle(.resumed(changed, .failed, reason: TapReason(.notStarted), showsFailure: false)) == [
        .show(changed, replacing: nil, isNews: false)
      ])
    #expect(policy.hasFailed(changed.id))
  }

  @Test func `a tap of an earlier run expires if the screen is full, and a new tap of its tag does not replace it`()
    throws
  {
    var policy = TapPolicy()
    let newer = try sampleOffer(1, tag: 200)
    _ = policy.handle(.stored(newer))
    for number in 2..<TapPolicy.maximumOnScreen { _ = policy.handle(.stored(try sampleOffer(number))) }
    let (older, oldest) = (try sampleOffer(100, tag: 200), try sampleOffer(101))
    #expect(policy.handle(.resumed(older, .shown, reason: .none)) == [.show(older, replacing: nil, isNews: false)])
    #expect(policy.count == TapPolicy.maximumOnScreen)
    #expect(policy.onScreenInOrder.first == older.id)
    // The first tap of the earlier run is older than the second one.
    #expect(
      policy.handle(.resumed(oldest, .shown, reason: .none)) == [
        .move(older.id, to: .expired, reason: TapReason(.madeRoom)), .closeNotification(older.id),
        .announceClosed(older.id, .expired), .show(oldest, replacing: nil, isNews: false),
      ])
    _ = policy.handle(.stored(try sampleOffer(102)))
    #expect(policy.offer(oldest.id) == nil && policy.offer(newer.id) != nil)
    #expect(
      policy.handle(.resumed(older, .shown, reason: .none)) == [
        .move(older.id, to: .expired, reason: TapReason(.madeRoom)), .closeNotification(older.id),
        .announceClosed(older.id, .expired),
      ])
    let next = try sampleOffer(103, tag: 200)
    #expect(policy.handle(.stored(next)).contains(.show(next, replacing: newer.id)))
  }

  @Test func `a tap of an earlier run that no app opens any more is over`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1, handler: nil)
    #expect(
      policy.handle(.resumed(offer, .shown, reason: .none)) == [
        .move(offer.id, to: .dismissed, reason: TapReason(.nothingToOpen, detail: "claims it")),
        .closeNotification(offer.id), .announceClosed(offer.id, .dismissed),
      ])
    let failure = TapReason(.notStarted, detail: "why")
    #expect(
      policy.handle(.resumed(offer, .failed, reason: failure)) == [
        .move(offer.id, to: .failedOffScreen, reason: failure), .closeNotification(offer.id),
      ])
  }
}

/// Notifications of taps that were opened without a click.
struct OpenedAtOncePolicyTests {
  private var policy = TapPolicy()

  private mutating func deliver(_ offer: TapOffer) -> [TapPolicy.Action] {
    _ = policy.open(offer, token: nil)
    return policy.handle(.handedOver(offer, .delivered))
  }

  @Test mutating func `the oldest notification leaves the screen when its button would do nothing`() throws {
    for number in 1...TapPolicy.maximumOnScreen {
      let offer = try sampleOffer(number).opening(.withoutClick)
      let actions = deliver(offer)
      #expect(actions.last == .showOpened(offer))
    }
    #expect(policy.isOpenedAtOnce(tapID(1)))
    let next = try sampleOffer(TapPolicy.maximumOnScreen + 1).opening(.withoutClick)
    let actions = deliver(next)
    #expect(actions.suffix(2) == [.showOpened(next), .closeNotification(tapID(1))])
    #expect(!policy.isOpenedAtOnce(tapID(1)) && policy.isOpenedAtOnce(tapID(2)))
  }

  @Test mutating func `a tag has one such notification, and its taps make no other leave`() throws {
    let other = try sampleOffer(1).opening(.withoutClick)
    _ = deliver(other)
    for number in 2...TapPolicy.maximumOnScreen + 2 {
      let offer = try sampleOffer(number, tag: 100).opening(.withoutClick)
      let actions = deliver(offer)
      #expect(actions.last == .showOpened(offer, replacing: number == 2 ? nil : tapID(number - 1)))
      #expect(policy.isOpenedAtOnce(offer.id))
    }
    #expect(policy.isOpenedAtOnce(other.id) && !policy.isOpenedAtOnce(tapID(2)))
  }

  @Test mutating func `a late answer still says what was opened`() throws {
    let offer = try sampleOffer(1).opening(.withoutClick)
    let answer = PendingAnswer(Task { .delivered }, on: EventLoop(label: "answer"))
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, .unknown(HandOverDoubt(.unanswered, "25")), answer: answer))
    #expect(policy.offer(offer.id) == offer.opening(.once))
    #expect(
      policy.handle(.answered(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered), .showOpened(offer),
      ])
    #expect(policy.count == 0)
    #expect(policy.answer(to: "ask-next-time", of: offer.id) == .askNextTime(offer))
  }

  @Test mutating func `a waiting notification of the same tag is dismissed`() throws {
    let waiting = try sampleOffer(1, tag: 7)
    _ = policy.handle(.stored(waiting))
    let offer = try sampleOffer(2, tag: 7).opening(.withoutClick)
    let actions = policy.open(offer, token: nil)
    #expect(
      actions == [
        .move(waiting.id, to: .dismissed, reason: TapReason(.tappedAgain)), .closeNotification(waiting.id),
        .announceClosed(waiting.id, .dismissed), .handOver(offer, token: nil),
      ])
    #expect(policy.count == 0 && policy.isReplaced(waiting.id))
  }
}
