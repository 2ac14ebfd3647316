import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

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
        .move(offer.id, to: .expired, reason: failure), .closeNotification(offer.id),
        .announceClosed(offer.id, .expired),
      ])
  }
}
