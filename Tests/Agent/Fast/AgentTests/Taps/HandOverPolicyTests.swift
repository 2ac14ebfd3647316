import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

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
        .announceClosed(offer.id, .failed),
        .showFailure(offer, reason: TapReason(.notStarted, detail: "it hangs")),
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
    let shown = offer.notification(failed: reason, timeout: -1, canCopy: true)
    #expect(shown.summary.string == "May have been opened in Menu")
    #expect(shown.body.string.hasSuffix(" · The app ended without an answer"))
    #expect(shown.defaultAction.label == "Try again")
  }

  @Test mutating func `the error text of a handler is one line of limited length`() throws {
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
}
