import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

/// What a rule does to a tap: its offer, its notification and its end.
struct RuleOfferTests {
  private func rule(_ action: TapRule.Action, asks: Bool = true, line: Int = 3) -> RuleSet {
    RuleSet([
      TapRule(
        name: "sleeve", origin: .user, file: "/r.conf", line: line, conditions: [.uid([4, 0, 0, 0, 0, 0, 1])],
        action: action, asks: asks)
    ])
  }

  private func offer(_ message: [UInt8], _ rules: RuleSet) throws -> TapOffer {
    let registry = Registry(
      declarations: [HandlerDeclaration(application: menu, domains: [try DomainPattern("menu.example.com")])],
      defaults: ["https": sampleBrowser])
    let reading = try TagReading(tapValues(1, message: message), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: RoutingPolicy(), languages: [], rules: rules)
  }

  private let vCard = [NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8))]

  @Test func `a program is offered for any contents`() throws {
    for message in [try uriMessage("https://menu.example.com/1"), try NDEFMessage(records: vCard).encoded(), [1, 2]] {
      let offer = try offer(message, rule(.run(["/bin/true", "x"])))
      #expect(offer.isOpenable && offer.isShown && !offer.mayOpenAtOnce)
      #expect(offer.handler == nil && offer.obstacle == nil)
      #expect(offer.command?.arguments == ["/bin/true", "x"])
      let notification = offer.notification(timeout: -1, canCopy: true)
      #expect(notification.summary.string == "Run “sleeve”")
      #expect(notification.buttons.map(\.label) == ["Run", "Always open this tag at once", "Dismiss"])
      #expect(!notification.body.isEmpty)
    }
  }

  @Test func `an ignored tag is not shown, and the reason names the rule`() throws {
    let offer = try offer(try uriMessage("https://menu.example.com/1"), rule(.ignore))
    #expect(!offer.isShown && !offer.isOpenable && !offer.mayOpenAtOnce)
    #expect(offer.ending.state == .dismissed)
    #expect(offer.ending.reason.code == .ignored)
    #expect(offer.ending.reason.detail == "the rule “sleeve” (/r.conf:3) ignores the tag")
  }

  @Test func `shown contents open no app`() throws {
    let link = try offer(try uriMessage("https://menu.example.com/1"), rule(.show))
    #expect(link.isShown && !link.isOpenable)
    #expect(link.notification(timeout: -1, canCopy: true).summary.string == "Link on a tag")
    let card = try offer(try NDEFMessage(records: vCard).encoded(), rule(.show))
    #expect(card.isShown && card.text.string == "Contact card")
  }

  @Test func `an app that a rule names needs no permission`() throws {
    let message = try uriMessage("https://elsewhere.example.net/1")
    let app = try offer(message, rule(.open("org.example.Menu.desktop"), asks: false))
    #expect(app.handler == menu && app.handsOverMessage && app.question == .nothing && app.mayOpenAtOnce)
    #expect(app.confirmed(by: app, isAnswer: false, hasFailed: false) == app)
    let browser = try offer(message, rule(.openDefault))
    #expect(browser.handler == sampleBrowser && !browser.handsOverMessage && !browser.mayOpenAtOnce)
    #expect(browser.confirmed(by: browser, isAnswer: false, hasFailed: false) == browser)
  }

  @Test func `a click runs the program only while the rule says the same`() throws {
    let message = try uriMessage("https://menu.example.com/1")
    let shown = try offer(message, rule(.run(["/bin/true"])))
    #expect(shown.confirmed(by: shown, isAnswer: false, hasFailed: false) == shown)
    // Somebody has written a comment above the rule.
    let moved = try offer(message, rule(.run(["/bin/true"]), line: 4))
    #expect(shown.confirmed(by: moved, isAnswer: false, hasFailed: false) == shown)
    let changed = try offer(message, rule(.run(["/bin/false"])))
    #expect(shown.confirmed(by: changed, isAnswer: false, hasFailed: false) == nil)
    let removed = try offer(message, RuleSet())
    #expect(shown.confirmed(by: removed, isAnswer: false, hasFailed: false) == nil)
    #expect(shown.handOverKey != changed.handOverKey)
  }

  @Test func `a waiting tap that a rule ignores since is over after the next click`() throws {
    var policy = TapPolicy()
    let message = try uriMessage("https://menu.example.com/1")
    _ = policy.handle(.stored(try offer(message, RuleSet())))
    let ignored = try offer(message, rule(.ignore))
    #expect(!ignored.isShown)
    let actions = policy.handle(.withdrawn(ignored))
    #expect(
      actions == [
        .move(ignored.id, to: .dismissed, reason: TapReason(.ignored, detail: ignored.reason)),
        .closeNotification(ignored.id), .announceClosed(ignored.id, .dismissed),
      ])
    #expect(policy.count == 0)
  }

  @Test func `a tap that was opened without a click says so`() throws {
    var policy = TapPolicy()
    let offer = try offer(try uriMessage("https://menu.example.com/1"), rule(.run(["/bin/true"]), asks: false)).opening(
      .withoutClick)
    #expect(offer.mayOpenAtOnce)
    let opening = policy.open(offer, token: nil)
    #expect(opening == [.handOver(offer, token: nil)])
    let delivered = policy.handle(.handedOver(offer, .delivered))
    #expect(
      delivered == [
        .move(offer.id, to: .delivered, reason: .none), .announceClosed(offer.id, .delivered), .showOpened(offer),
      ])
    #expect(offer.openedNotice.summary.string == "Started “sleeve”")
    // A click on that notification, or its end, changes nothing.
    let closed = policy.handle(.closed(offer.id, .dismissed))
    #expect(closed.isEmpty)
    let failed = policy.handle(.handedOver(offer, .failed(HandOverFailure(.commandMissing, "/r.conf:3"))))
    #expect(
      failed.last
        == .showFailure(
          offer.opening(.once), reason: TapReason(.init(rawValue: "command-missing"), detail: "/r.conf:3")))
    // Another rule that changes does not show the failure again.
    #expect(policy.offer(offer.id) == offer.opening(.once))
  }

  @Test func `without a desktop, the reason names the rule and nothing of what is on the tag`() throws {
    let message = try uriMessage("https://secret.example.com/1")
    let asking = try offer(message, rule(.run(["/bin/true"]))).headlessEnding
    #expect(asking.state == .dismissed && asking.reason.code == .headless)
    #expect(asking.reason.detail == "no user can be asked, and the rule “sleeve” has no Ask=no")
    let showing = try offer(message, rule(.show, asks: false)).headlessEnding
    #expect(showing.reason.detail == "no user can be asked, and the rule “sleeve” cannot act without that")
    for ending in [asking, showing] { #expect(!ending.reason.detail.contains("secret")) }
  }
}
