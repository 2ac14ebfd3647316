import EventLoop
import Inbox
import Testing

@testable import Agent
@testable import Handlers

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
    #expect(policy.answer(to: "ask-next-time", of: offer.id, canCopy: true) == .askNextTime(offer))
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
