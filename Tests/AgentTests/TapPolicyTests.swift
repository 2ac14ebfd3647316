import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

struct TapPolicyTests {
  private let place = NotificationPlace(bus: "bus", owner: ":1.7", id: 5)

  @Test func `a tap goes its way, each state before its effect`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    #expect(policy.handle(.stored(offer)) == [.announceReceived(offer.id), .show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: place)) == [.putOnScreen(offer.id, at: place)])
    #expect(
      policy.open(offer, token: "t") == [
        .closeNotification(offer.id), .handOver(offer, token: "t"),
      ])
    #expect(
      policy.handle(.handedOver(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
    #expect(policy.count == 0)
  }

  @Test func `what is shown again on another server is there from then on, and what has left the screen is nowhere`()
    throws
  {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    _ = policy.handle(.shown(offer.id, at: place))
    let other = NotificationPlace(bus: "bus", owner: ":1.8", id: 1)
    #expect(policy.handle(.shown(offer.id, at: other)) == [.putOnScreen(offer.id, at: other)])
    #expect(policy.handle(.closed(offer.id, .expired)).contains(.move(offer.id, to: .expired, reason: .none)))
    #expect(policy.handle(.shown(offer.id, at: place)).isEmpty)
  }

  @Test func `the same tag again takes the place of its tap, which is dismissed first`() throws {
    var policy = TapPolicy()
    let (first, second) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7))
    _ = policy.handle(.stored(first))
    #expect(
      policy.handle(.stored(second)) == [
        .move(first.id, to: .dismissed, reason: TapReason(.tappedAgain)), .announceReceived(second.id),
        .show(second, replacing: first.id), .announceClosed(first.id, .dismissed),
      ])
    #expect(policy.count == 1)
    #expect(policy.handle(.closed(first.id, .dismissed)).isEmpty)
  }

  @Test func `what was removed from the inbox leaves the screen, also after a click that met nothing`() throws {
    var policy = TapPolicy()
    let (waiting, failed) = (try sampleOffer(1), try sampleOffer(2))
    _ = policy.handle(.stored(waiting))
    _ = policy.handle(.resumed(failed, .failed, reason: .none))
    #expect(
      policy.handle(.cleared(waiting.id)) == [
        .closeNotification(waiting.id), .announceClosed(waiting.id, .dismissed),
      ])
    // Its end was told when it failed.
    #expect(policy.handle(.cleared(failed.id)) == [.closeNotification(failed.id)])
    #expect(policy.count == 0)
    _ = policy.handle(.stored(waiting))
    _ = policy.handle(.open(waiting, token: nil))
    _ = policy.handle(.notBegun(waiting))
    #expect(policy.handle(.cleared(waiting.id)).first == .closeNotification(waiting.id))
  }

  @Test func `a question never takes the place of what somebody may just be clicking`() throws {
    var policy = TapPolicy()
    let (first, second) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7, question: .whetherAllowed))
    _ = policy.handle(.stored(first))
    #expect(
      policy.handle(.stored(second)) == [
        .move(first.id, to: .dismissed, reason: TapReason(.tappedAgain)), .closeNotification(first.id),
        .announceClosed(first.id, .dismissed), .announceReceived(second.id), .show(second, replacing: nil),
      ])
    #expect(policy.count == 1 && policy.offer(second.id) == second)
  }

  @Test(arguments: [Route.Question.nothing, .whetherAllowed])
  func `a click that was on its way when the same tag came again opens what it was made on`(question: Route.Question)
    throws
  {
    var policy = TapPolicy()
    let (first, second) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7, question: question))
    _ = policy.handle(.stored(first))
    _ = policy.handle(.stored(second))
    #expect(policy.answer(to: "open", of: first.id, canCopy: true) == .open(first, nil))
    #expect(policy.isReplaced(first.id) && !policy.isReplaced(second.id))
    #expect(policy.open(first, token: nil) == [.handOver(first, token: nil)])
    #expect(policy.onScreenInOrder == [second.id])
    // They are not kept for ever.
    for number in 3...(3 + TapPolicy.maximumOnScreen) { _ = policy.handle(.stored(try sampleOffer(number, tag: 7))) }
    #expect(policy.answer(to: "open", of: first.id, canCopy: true) == .showAgain && !policy.isReplaced(first.id))
  }

  @Test func `only what is on the screen can be answered`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .showAgain)
    _ = policy.handle(.stored(offer))
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .open(offer, nil))
    _ = policy.handle(.dismiss(offer.id))
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .showAgain)
  }

  @Test func `what was no answer is asked again, in the state that it has`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1, tag: 7, question: .which)
    _ = policy.handle(.stored(offer))
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: place)) == [.putOnScreen(offer.id, at: place)])
    // Of one that has left the screen no state is known here, and a newer tap of its tag stays the one that the next replaces.
    _ = policy.handle(.closed(offer.id, .expired))
    let (second, third) = (try sampleOffer(2, tag: 7), try sampleOffer(3, tag: 7))
    _ = policy.handle(.stored(second))
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: place)) == [.putOnScreen(offer.id, at: place)])
    #expect(policy.offer(offer.id) == offer)
    #expect(policy.handle(.stored(third)).contains(.show(third, replacing: second.id)))
  }

  @Test func `what has failed and is decided again still says so, where it is about the same app`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.handle(.resumed(offer, .failed, reason: TapReason(.notStarted, detail: "why")))
    #expect(
      policy.handle(.again(offer, failure: TapReason(.notStarted, detail: "why"))) == [
        .showFailure(offer, reason: TapReason(.notStarted, detail: "why"))
      ])
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil)])
    _ = policy.open(offer, token: nil)
    #expect(policy.onScreenInOrder.isEmpty)
  }

  @Test func `a click that met nothing leaves the screen as it is`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    #expect(policy.handle(.open(offer, token: nil)) == [.begin(offer, token: nil, choice: nil)])
    #expect(policy.handle(.notBegun(offer)).isEmpty)
    #expect(policy.offer(offer.id) == offer)
    #expect(policy.handle(.closed(offer.id, .dismissed)).first == .move(offer.id, to: .dismissed, reason: .none))
  }

  @Test func `the same tag after a click is a tap of its own`() throws {
    var policy = TapPolicy()
    let (first, second) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7))
    _ = policy.handle(.stored(first))
    _ = policy.open(first, token: nil)
    #expect(policy.handle(.stored(second)) == [.announceReceived(second.id), .show(second, replacing: nil)])
  }

  @Test func `a choice is remembered before what was chosen is opened`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    let choice = HandlerChoices.Change.prefer(menu, claim: "menu.example.com")
    _ = policy.handle(.stored(offer))
    #expect(
      policy.open(offer, token: nil, choice: choice) == [
        .closeNotification(offer.id), .remember(offer.id, choice), .handOver(offer, token: nil),
      ])
  }

  @Test func `a failed hand-over is shown with its reason and can be tried again`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    _ = policy.open(offer, token: nil)
    #expect(
      policy.handle(.handedOver(offer, .failed(HandOverFailure(.notStarted, "it hangs")))) == [
        .move(offer.id, to: .failed, reason: TapReason(.notStarted, detail: "it hangs")),
        .announceClosed(offer.id, .failed),
        .showFailure(offer, reason: TapReason(.notStarted, detail: "it hangs")),
      ])
    #expect(policy.handle(.shown(offer.id, at: place)) == [.putOnScreen(offer.id, at: place)])
    #expect(
      policy.open(offer, token: "t") == [
        .closeNotification(offer.id), .handOver(offer, token: "t"),
      ])
  }

  @Test(arguments: [
    (NotificationCloseReason.dismissed, TapState.dismissed), (.expired, .expired), (.closed, .expired),
    (.undefined, .expired),
  ])
  func `a notification that goes without a click ends its tap`(reason: NotificationCloseReason, state: TapState) throws
  {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    #expect(
      policy.handle(.closed(offer.id, reason)) == [
        .move(offer.id, to: state, reason: .none), .announceClosed(offer.id, state),
      ])
    #expect(policy.handle(.closed(offer.id, reason)).isEmpty)
    // It can still be opened from the list.
    #expect(
      policy.open(offer, token: nil) == [.handOver(offer, token: nil)])
  }

  @Test func `a failure whose notification runs out keeps its reason, one that is closed is dismissed`() throws {
    let failure = TapReason(.notStarted, detail: "why")
    for (reason, actions) in [
      (
        NotificationCloseReason.expired,
        [TapPolicy.Action.move(tapID(1), to: .expired, reason: failure), .announceClosed(tapID(1), .expired)]
      ),
      (.dismissed, [.move(tapID(1), to: .dismissed, reason: .none), .announceClosed(tapID(1), .dismissed)]),
    ] {
      var policy = TapPolicy()
      _ = policy.handle(.resumed(try sampleOffer(1), .failed, reason: TapReason(.notStarted, detail: "why")))
      #expect(policy.handle(.closed(tapID(1), reason)) == actions)
    }
  }

  @Test func `what an earlier run left open is shown as what it is`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    #expect(policy.handle(.resumed(offer, .shown, reason: .none)) == [.show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: place)) == [.putOnScreen(offer.id, at: place)])
    let fresh = try sampleOffer(2)
    #expect(policy.handle(.resumed(fresh, .received, reason: .none)) == [.show(fresh, replacing: nil)])
    #expect(policy.handle(.shown(fresh.id, at: place)) == [.putOnScreen(fresh.id, at: place)])
    let failed = try sampleOffer(3)
    #expect(
      policy.handle(.resumed(failed, .failed, reason: TapReason(.notStarted, detail: "why"))) == [
        .showFailure(failed, reason: TapReason(.notStarted, detail: "why"))
      ])
  }

  @Test func `what an earlier run left makes no room for itself, and is not what the next tap of its tag replaces`()
    throws
  {
    var policy = TapPolicy()
    let newer = try sampleOffer(1, tag: 200)
    _ = policy.handle(.stored(newer))
    for number in 2..<TapPolicy.maximumOnScreen { _ = policy.handle(.stored(try sampleOffer(number))) }
    let (older, oldest) = (try sampleOffer(100, tag: 200), try sampleOffer(101))
    #expect(policy.handle(.resumed(older, .shown, reason: .none)) == [.show(older, replacing: nil)])
    #expect(policy.count == TapPolicy.maximumOnScreen)
    #expect(policy.onScreenInOrder.first == older.id)
    // The first of an earlier run is older than the second.
    #expect(
      policy.handle(.resumed(oldest, .shown, reason: .none)) == [
        .move(older.id, to: .expired, reason: TapReason(.madeRoom)), .closeNotification(older.id),
        .announceClosed(older.id, .expired), .show(oldest, replacing: nil),
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

  @Test func `what an earlier run left open and nobody opens any more has failed`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1, handler: nil)
    #expect(
      policy.handle(.resumed(offer, .shown, reason: .none)) == [
        .move(offer.id, to: .failed, reason: TapReason(.refused, detail: "claims it")),
        .closeNotification(offer.id), .announceClosed(offer.id, .failed),
      ])
    let failure = TapReason(.notStarted, detail: "why")
    #expect(
      policy.handle(.resumed(offer, .failed, reason: failure)) == [
        .move(offer.id, to: .expired, reason: failure), .closeNotification(offer.id),
        .announceClosed(offer.id, .expired),
      ])
  }

  @Test func `a call dismisses a tap, on the screen or not, and the retention ends one`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
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
  }

  @Test func `the oldest leaves the screen when there are too many, and can be opened from the list`() throws {
    var policy = TapPolicy()
    let failed = try sampleOffer(1)
    #expect(
      policy.handle(.resumed(failed, .failed, reason: TapReason(.notStarted, detail: "why"))) == [
        .showFailure(failed, reason: TapReason(.notStarted, detail: "why"))
      ])
    for number in 2...TapPolicy.maximumOnScreen {
      #expect(policy.handle(.stored(try sampleOffer(number))).count == 2)
    }
    let (next, last) = (try sampleOffer(101), try sampleOffer(102))
    #expect(
      policy.handle(.stored(next)) == [
        .move(failed.id, to: .expired, reason: TapReason(.notStarted, detail: "why")), .closeNotification(failed.id),
        .announceClosed(failed.id, .expired), .announceReceived(next.id), .show(next, replacing: nil),
      ])
    #expect(
      policy.handle(.stored(last)) == [
        .move(tapID(2), to: .expired, reason: TapReason(.madeRoom)), .closeNotification(tapID(2)),
        .announceClosed(tapID(2), .expired), .announceReceived(last.id), .show(last, replacing: nil),
      ])
    #expect(policy.count == TapPolicy.maximumOnScreen)
    #expect(policy.handle(.closed(tapID(2), .closed)).isEmpty)
    // In the place of the same tag's nobody else has to leave.
    let again = try sampleOffer(103, tag: 102)
    #expect(policy.handle(.stored(again)).contains(.show(again, replacing: last.id)))
    #expect(policy.count == TapPolicy.maximumOnScreen)
  }

  @Test func `what nobody knows the end of says that it may have been opened`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    _ = policy.open(offer, token: nil)
    let reason = TapReason(.init(rawValue: "left-without-answer"))
    #expect(
      policy.handle(.handedOver(offer, .unknown(HandOverDoubt(.leftWithoutAnswer)))) == [
        .move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed),
        .showFailure(offer, reason: reason),
      ])
    let shown = offer.notification(failed: reason, timeout: .server, canCopy: true)
    #expect(shown.summary.string == "May have been opened in Menu")
    #expect(shown.body.string.hasSuffix(" · The app ended without an answer"))
    #expect(shown.defaultAction.label == "Try again")
  }

  @Test func `what a handler says is one bounded line`() throws {
    var policy = TapPolicy()
    let words = "closed\u{1B}[2J\n" + String(repeating: "x", count: 10_000)
    let actions = policy.handle(
      .handedOver(try sampleOffer(1), .failed(HandOverFailure(.handlerFailed, words, error: "a.b"))))
    guard case .move(_, .failed, let reason)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(reason.code == .handlerFailed && reason.detail.hasPrefix("closed [2J xxx"))
    #expect(reason.detail.count == 200)
    #expect(actions.contains(.showFailure(try sampleOffer(1), reason: reason)))
  }

  @Test func `an old tap that fails late does not hide a newer one of its tag`() throws {
    var policy = TapPolicy()
    let (first, second, third) = (try sampleOffer(1, tag: 7), try sampleOffer(2, tag: 7), try sampleOffer(3, tag: 7))
    _ = policy.handle(.stored(first))
    _ = policy.open(first, token: nil)
    _ = policy.handle(.stored(second))
    _ = policy.handle(.handedOver(first, .failed(HandOverFailure(.notStarted, "late"))))
    #expect(policy.handle(.stored(third)).contains(.show(third, replacing: second.id)))
  }
}
