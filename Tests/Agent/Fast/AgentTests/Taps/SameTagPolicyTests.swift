import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

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
    #expect(policy.answer(to: "open", of: first.id, canCopy: true) == .open(first, nil))
    #expect(policy.isReplaced(first.id) && !policy.isReplaced(second.id))
    #expect(policy.open(first, token: nil) == [.handOver(first, token: nil)])
    #expect(policy.onScreenInOrder == [second.id])
    // The replaced taps are kept only up to a limit.
    for number in 3...(3 + TapPolicy.maximumOnScreen) { _ = policy.handle(.stored(try sampleOffer(number, tag: 7))) }
    #expect(policy.answer(to: "open", of: first.id, canCopy: true) == .showAgain && !policy.isReplaced(first.id))
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
