import EventLoop
import Inbox
import Notifications
import Rig
import Routing
import Testing

@testable import Agent
@testable import Handlers

/// The steps before a hand-over, and the effect of its outcome on the tap.
struct HandOverPolicyTests {
  private let offer: TapOffer
  private var policy = TapPolicy()

  init() throws { offer = try sampleOffer(1) }

  @Test mutating func `a choice is stored before the chosen app is opened`() throws {
    let choice = HandlerChoices.Change.prefer(menu, claim: "menu.example.com")
    _ = policy.handle(.stored(offer))
    #expect(
      policy.open(offer, token: nil, choice: choice) == [
        .closeNotification(offer.id), .remember(offer.id, choice), .handOver(offer, token: nil),
      ])
  }

  @Test mutating func `a failed hand-over is shown with its reason and can be tried again`() throws {
    _ = policy.handle(.stored(offer))
    _ = policy.open(offer, token: nil)
    #expect(
      policy.handle(.handedOver(offer, .failed(HandOverFailure(.notStarted, "it hangs")))) == [
        .move(offer.id, to: .failed, reason: TapReason(.notStarted, detail: "it hangs")),
        .announceClosed(offer.id, .failed), .showFailure(offer, reason: TapReason(.notStarted, detail: "it hangs")),
      ])
    #expect(policy.handle(.shown(offer.id, at: samplePlace)) == [.putOnScreen(offer.id, at: samplePlace)])
    #expect(policy.open(offer, token: "t") == [.closeNotification(offer.id), .handOver(offer, token: "t")])
  }

  @Test mutating func `after an unknown outcome the text says that the tap may have been opened`() throws {
    _ = policy.open(offer, token: nil)
    let reason = TapReason(.init(rawValue: "left-without-answer"))
    #expect(
      policy.handle(.handedOver(offer, .unknown(HandOverDoubt(.leftWithoutAnswer)))) == [
        .move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed),
        .showFailure(offer, reason: reason),
      ])
    let shown = offer.notification(failed: reason, timeout: -1)
    #expect(shown.summary.string == "May have been opened in Menu")
    #expect(shown.body.string.hasSuffix(" · The app ended without an answer"))
    #expect(shown.defaultAction.label == "Try again")
  }

  @Test mutating func `the error text of a handler is one line of limited length`() throws {
    let words = "closed\u{1B}[2J\n" + String(repeating: "x", count: 10_000)
    let actions = policy.handle(
      .handedOver(try sampleOffer(1), .failed(HandOverFailure(.handlerFailed, words, error: "a.b"))))
    guard case .move(_, .failed, let reason)? = actions.first else { throw RigError("\(actions)") }
    #expect(reason.code == .handlerFailed && reason.detail.hasPrefix("closed [2J xxx"))
    #expect(reason.detail.count == 200)
    #expect(actions.contains(.showFailure(try sampleOffer(1), reason: reason)))
  }
}

/// An app's answer after the agent has stopped waiting for it.
struct LateAnswerPolicyTests {
  private static let unanswered = HandOverOutcome.unknown(HandOverDoubt(.unanswered, "25"))
  private static let refusal = HandOverOutcome.failed(HandOverFailure(.handlerFailed, "the kitchen is closed"))
  private let answer = PendingAnswer(Task { .delivered }, on: EventLoop(label: "answer"))
  private let otherAnswer = PendingAnswer(Task { .delivered }, on: EventLoop(label: "other-answer"))
  private let offer: TapOffer
  private var policy = TapPolicy()

  init() throws {
    offer = try sampleOffer(1)
    _ = policy.handle(.stored(offer))
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, Self.unanswered, answer: answer))
  }

  @Test mutating func `a late answer delivers the tap and closes the notification`() throws {
    #expect(
      policy.handle(.answered(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .closeNotification(offer.id),
        .announceClosed(offer.id, .delivered),
      ])
    #expect(policy.count == 0)
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
  }

  @Test mutating func `a late answer after the notification closed only delivers the tap`() throws {
    _ = policy.handle(.closed(offer.id, .expired))
    #expect(
      policy.handle(.answered(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
  }

  @Test mutating func `a late refusal after the notification closed is kept in the list`() throws {
    _ = policy.handle(.closed(offer.id, .expired))
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    #expect(policy.handle(.answered(offer, Self.refusal)) == [.move(offer.id, to: .failedOffScreen, reason: reason)])
  }

  @Test mutating func `a late refusal stays the reason when the notification expires`() throws {
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    _ = policy.handle(.answered(offer, Self.refusal))
    #expect(policy.handle(.closed(offer.id, .expired)) == [.move(offer.id, to: .failedOffScreen, reason: reason)])
  }

  @Test mutating func `a late refusal replaces the unknown outcome`() throws {
    let reason = TapReason(.handlerFailed, detail: "the kitchen is closed")
    #expect(
      policy.handle(.answered(offer, Self.refusal)) == [
        .move(offer.id, to: .failed, reason: reason), .showFailure(offer, reason: reason),
      ])
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }

  @Test mutating func `an app that ends without an answer keeps the outcome unknown, and gets the tap again on retry`()
    throws
  {
    #expect(policy.handle(.answered(offer, .unknown(HandOverDoubt(.leftWithoutAnswer)))).isEmpty)
    #expect(policy.hasFailed(offer.id))
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }

  @Test mutating func `a retry waits for the pending answer`() throws {
    #expect(policy.open(offer, token: "t").last == .awaitAnswer(offer, answer))
    #expect(
      policy.handle(.handedOver(offer, .delivered)) == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered),
      ])
    // The late answer is the same one.
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(policy.pendingAnswer(of: offer) == nil)
  }

  @Test mutating func `an answer after a second timeout still delivers the tap`() throws {
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, Self.unanswered, answer: answer))
    #expect(policy.handle(.answered(offer, .delivered)).first == .move(offer.id, to: .delivered, reason: .none))
  }

  @Test mutating func `the first app's answer is ignored when another app has the tap`() throws {
    let other = offer.handed(to: Self.browser, whole: false)
    #expect(policy.open(other, token: nil).last == .handOver(other, token: nil))
    _ = policy.handle(.handedOver(other, Self.unanswered, answer: otherAnswer))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
    #expect(policy.handle(.answered(other, .delivered)).count == 3)
  }

  private static let browser = Application(
    desktopID: "browser.desktop", name: "Browser", file: "/b.desktop", origin: .system)

  @Test mutating func `an app that has not answered is not called twice, even after another app was tried`() throws {
    let other = offer.handed(to: Self.browser, whole: false)
    #expect(policy.open(other, token: nil).last == .handOver(other, token: nil))
    _ = policy.handle(.handedOver(other, .failed(HandOverFailure(.notStarted, "it is gone"))))
    #expect(policy.open(offer, token: nil).last == .awaitAnswer(offer, answer))
    #expect(policy.handle(.handedOver(offer, .delivered)).first == .move(offer.id, to: .delivered, reason: .none))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty)
  }

  @Test mutating func `an app with a new name is still the same app`() throws {
    let renamed = Application(
      desktopID: menu.desktopID, name: "Speisekarte", icon: "other", file: menu.file, origin: .store)
    let other = offer.handed(to: renamed, whole: true)
    #expect(policy.open(other, token: nil).last == .awaitAnswer(other, answer))
  }

  @Test mutating func `an answer during another app's hand-over ends the first app's call`() throws {
    let other = offer.handed(to: Self.browser, whole: false)
    _ = policy.open(other, token: nil)
    _ = policy.handle(.handedOver(other, .failed(HandOverFailure(.notStarted, "it is gone"))))
    // The agent holds the answer until this hand-over ends.
    #expect(policy.handle(.answered(offer, Self.refusal)).isEmpty)
    #expect(policy.open(offer, token: nil).last == .handOver(offer, token: nil))
  }
}
