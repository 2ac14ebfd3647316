import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

/// An answer that comes when nobody waits for it any longer.
struct LateAnswerPolicyTests {
  private static let unanswered = HandOverOutcome.unknown(HandOverDoubt(.unanswered, "25"))
  private let offer: TapOffer
  private var policy = TapPolicy()

  init() throws {
    offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, Self.unanswered, mayBeAnswered: true))
  }

  @Test mutating func `it delivers the tap, and takes the notification away`() throws {
    #expect(
      policy.handle(.answered(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .closeNotification(offer.id),
        .announceClosed(offer.id, .delivered),
      ])
    #expect(policy.count == 0)
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
  }

  @Test mutating func `where nothing is on the screen any more, nothing is taken away`() throws {
    _ = policy.handle(.closed(offer.id, .expired))
    #expect(
      policy.handle(.answered(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
  }

  @Test mutating func `a refusal of what has left the screen is said in the list`() throws {
    _ = policy.handle(.closed(offer.id, .expired))
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    #expect(
      policy.handle(.answered(offer, .failed(HandOverFailure(.handlerFailed, "the kitchen is closed")))) == [
        .move(offer.id, to: .expired, reason: reason)
      ])
  }

  @Test mutating func `a refusal is what is kept when its notification ends`() throws {
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    _ = policy.handle(.answered(offer, .failed(HandOverFailure(.handlerFailed, "the kitchen is closed"))))
    #expect(policy.handle(.closed(offer.id, .expired)).first == .move(offer.id, to: .expired, reason: reason))
  }

  @Test mutating func `a refusal takes the place of the doubt`() throws {
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    #expect(
      policy.handle(.answered(offer, .failed(HandOverFailure(.handlerFailed, "the kitchen is closed")))) == [
        .move(offer.id, to: .failed, reason: reason), .showFailure(offer, reason: reason),
      ])
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }

  @Test mutating func `an app that leaves without one leaves the doubt, and gets the tap again`() throws {
    #expect(policy.handle(.answered(offer, .unknown(HandOverDoubt(.leftWithoutAnswer)))).isEmpty)
    #expect(policy.hasFailed(offer.id))
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }

  @Test mutating func `to try again is to wait again, and who waits has the answer`() throws {
    #expect(policy.open(offer, token: "t").last == .awaitAnswer(offer))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(
      policy.handle(.handedOver(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
    #expect(!policy.isUnanswered(offer))
  }

  @Test mutating func `who has waited again in vain is told of the answer all the same`() throws {
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, Self.unanswered, mayBeAnswered: true))
    #expect(policy.handle(.answered(offer, .delivered)).first == .move(offer.id, to: .delivered, reason: .none))
  }

  @Test mutating func `another app that gets the tap makes the answer of the first one meaningless`() throws {
    let other = offer.handed(to: Self.browser, whole: false)
    #expect(policy.open(other, token: nil).last == .handOver(other, token: nil))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    _ = policy.handle(.handedOver(other, Self.unanswered, mayBeAnswered: true))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(policy.handle(.answered(other, .delivered)).count == 3)
  }

  private static let browser = Application(
    desktopID: "browser.desktop", name: "Browser", file: "/b.desktop", origin: .system)

  @Test mutating func `an app that still thinks is not called twice, whoever was tried in between`() throws {
    let other = offer.handed(to: Self.browser, whole: false)
    #expect(policy.open(other, token: nil).last == .handOver(other, token: nil))
    _ = policy.handle(.handedOver(other, .failed(HandOverFailure(.notStarted, "it is gone"))))
    #expect(policy.open(offer, token: nil).last == .awaitAnswer(offer))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(policy.handle(.handedOver(offer, .delivered)).first == .move(offer.id, to: .delivered, reason: .none))
  }

  @Test mutating func `an app that is shown under another name meanwhile is the same app`() throws {
    let renamed = Application(
      desktopID: menu.desktopID, name: "Speisekarte", icon: "other", file: menu.file, origin: .store)
    let other = offer.handed(to: renamed, whole: true)
    #expect(policy.open(other, token: nil).last == .awaitAnswer(other))
  }

  @Test mutating func `a click that met nothing changes nothing about the answer`() throws {
    _ = policy.handle(.open(offer, token: nil))
    _ = policy.handle(.notBegun(offer))
    #expect(policy.handle(.answered(offer, .delivered)).first == .move(offer.id, to: .delivered, reason: .none))
  }

  @Test mutating func `an answer that comes over a click is not lost, whether the click meets something or not`() throws
  {
    var refused = policy
    _ = refused.handle(.open(offer, token: nil))
    #expect(refused.handle(.answered(offer, .delivered)).isEmpty)
    #expect(refused.handle(.notBegun(offer)).first == .move(offer.id, to: .delivered, reason: .none))

    _ = policy.handle(.open(offer, token: nil))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(policy.handle(.begun(offer, token: nil)).last == .awaitAnswer(offer))
  }

  @Test mutating func `an answer that comes over a click on another app is not taken for one that is still to come`()
    throws
  {
    let other = offer.handed(to: Self.browser, whole: false)
    _ = policy.handle(.open(other, token: nil))
    #expect(policy.handle(.answered(offer, .failed(HandOverFailure(.handlerFailed, "closed")))).isEmpty)
    #expect(policy.handle(.begun(other, token: nil)).last == .handOver(other, token: nil))
    _ = policy.handle(.handedOver(other, .failed(HandOverFailure(.notStarted, "it is gone"))))
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }
}
