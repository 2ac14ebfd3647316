import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

/// What becomes of a tap on the screen.
struct TapPolicyTests {
  @Test func `a tap goes its way, each state before its effect`() throws {
    var policy = TapPolicy()
    let offer = try sampleOffer(1)
    #expect(policy.handle(.stored(offer)) == [.announceReceived(offer.id), .show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
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
    _ = policy.handle(.shown(offer.id, at: samplePlace))
    let other = NotificationPlace(bus: "bus", owner: ":1.8", id: 1)
    #expect(policy.handle(.shown(offer.id, at: other)) == [.putOnScreen(offer.id, at: other)])
    #expect(policy.handle(.closed(offer.id, .expired)).contains(.move(offer.id, to: .expired, reason: .none)))
    #expect(policy.handle(.shown(offer.id, at: samplePlace)).isEmpty)
  }

  @Test func `a tap that is removed from the inbox leaves the screen, also after a refused click`() throws {
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
    // A click that the inbox refused has left its notification.
    #expect(policy.handle(.cleared(waiting.id)).first == .closeNotification(waiting.id))
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
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    // Of one that has left the screen no state is known here, and a newer tap of its tag stays the one that the next replaces.
    _ = policy.handle(.closed(offer.id, .expired))
    let (second, third) = (try sampleOffer(2, tag: 7), try sampleOffer(3, tag: 7))
    _ = policy.handle(.stored(second))
    #expect(policy.handle(.again(offer)) == [.show(offer, replacing: nil)])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
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
}
