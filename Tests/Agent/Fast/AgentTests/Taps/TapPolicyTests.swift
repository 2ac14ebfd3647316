import Handlers
import Inbox
import Names
import Notifications
import Routing
import Testing

@testable import Agent

/// A tap on the screen and its transitions.
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
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .showAgain)
    _ = policy.handle(.stored(offer))
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .open(offer, nil))
    _ = policy.handle(.dismiss(offer.id))
    #expect(policy.answer(to: "open", of: offer.id, canCopy: true) == .showAgain)
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

  @Test func `a failure keeps its reason when the notification expires, and closing it dismisses the tap`() throws {
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
    // A tap that replaces one of the same tag removes no other tap.
    let again = try sampleOffer(103, tag: 102)
    #expect(policy.handle(.stored(again)).contains(.show(again, replacing: last.id)))
    #expect(policy.count == TapPolicy.maximumOnScreen)
  }
}
