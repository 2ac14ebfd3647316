import EventLoop
@testable import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

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
    let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: RoutingPolicy(), languages: [], rules: rules)
  }

  private let vCard = [NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8))]

  @Test func `a program is offered for any contents`() throws {
    for message in [try uriMessage("https://menu.example.com/1"), try NDEFMessage(records: vCard).encoded(), [1, 2]] {
      let offer = try offer(message, rule(.run(["/bin/true", "x"])))
      #expect(offer.isOpenable && offer.isShown && !offer.mayOpenAtOnce)
      #expect(offer.handler == nil && offer.obstacle == nil)
      #expect(offer.command?.arguments == ["/bin/true", "x"])
      let notification = offer.notification(timeout: -1)
      #expect(notification.summary.string == "Run “sleeve”")
      #expect(notification.buttons.map(\.label) == ["Run", "More…", "Dismiss"])
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
    #expect(link.notification(timeout: -1).summary.string == "Link on a tag")
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
    // A new comment above the rule moves it.
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
    // A click on that notification, or its end, has no effect.
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

  @Test(arguments: [true, false])
  func `a program that fails later makes the tap fail, unless the tag was removed before`(isRemoved: Bool) async throws
  {
    var policy = TapPolicy()
    let loop = EventLoop(label: "test")
    let offer = try offer(try uriMessage("https://menu.example.com/1"), rule(.run(["/bin/p"]), asks: false)).opening(
      .withoutClick)
    _ = policy.open(offer, token: nil)
    let failure = HandOverFailure(.commandFailed, "/bin/p ended with status 1")
    let answer = PendingAnswer(Task { .failed(failure) }, on: loop)
    #expect(policy.handle(.handedOver(offer, .delivered, answer: answer)).last == .showOpened(offer))
    if isRemoved { _ = policy.handle(.undone(offer.id)) }
    let actions = policy.handle(.answered(offer, await answer.outcome))
    let reason = TapReason(.init(rawValue: "command-failed"), detail: failure.detail)
    let expected: [TapPolicy.Action] = [
      .move(offer.id, to: .failed, reason: reason), .announceClosed(offer.id, .failed),
      .showFailure(offer.opening(.once), reason: reason),
    ]
    #expect(actions == (isRemoved ? [] : expected))
    // "Try again" runs it once more.
    guard !isRemoved else { return }
    #expect(policy.answer(to: "retry", of: offer.id) == .open(offer.opening(.once), nil))
    #expect(
      policy.handle(.opening(offer.opening(.once), token: nil)).last == .handOver(offer.opening(.once), token: nil))
  }

  @Test func `a program that ends well leaves the tap delivered`() async throws {
    var policy = TapPolicy()
    let offer = try offer(try uriMessage("https://menu.example.com/1"), rule(.run(["/bin/p"])))
    _ = policy.open(offer, token: nil)
    let answer = PendingAnswer(Task { .delivered }, on: EventLoop(label: "test"))
    _ = policy.handle(.handedOver(offer, .delivered, answer: answer))
    #expect(policy.handle(.answered(offer, .delivered)).isEmpty && policy.count == 0)
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

/// “Always open at once” and “Ask next time”, without a bus.
struct AlwaysOfferTests {
  private static let uid: [UInt8] = [4, 0, 0, 0, 0, 0, 1]

  private func offer(
    _ link: String? = "https://menu.example.com/1", uid: [UInt8] = Self.uid, rule: TapRule? = nil,
    technology: String = "type-2"
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: [HandlerDeclaration(application: menu, domains: [try DomainPattern("menu.example.com")])],
      defaults: ["https": sampleBrowser])
    let message = try link.map(uriMessage) ?? []
    let read = try TagRead(tapValues(1, message: message, uid: uid, technology: technology), now: sampleMicroseconds)
    return TapOffer(
      read, registry: registry, policy: RoutingPolicy(), languages: [],
      rules: RuleSet([rule].compactMap(\.self)))
  }

  private func rule(
    _ action: TapRule.Action, _ conditions: [TapRule.Condition] = [.uid(Self.uid)], file: String = "/x/lamp.conf",
    asks: Bool = true, onRemove: [String] = []
  ) -> TapRule {
    TapRule(
      name: "lamp", origin: .user, file: file, line: 3, conditions: conditions, action: action, asks: asks,
      onRemove: onRemove)
  }

  private func keys(_ offer: TapOffer) -> [String] { offer.notification(timeout: -1, more: true).buttons.map(\.key) }

  @Test func `the button is the last one behind “More…”, and opens the tap`() throws {
    let offer = try offer()
    #expect(offer.notification(timeout: -1).buttons.map(\.key) == ["open", "more", "dismiss"])
    #expect(keys(offer) == ["alternative", "always"])
    let (opened, choice) = try offer.opened(by: "always")
    #expect(opened.manner == .always && choice == nil && opened.handler == menu)
    #expect(opened.confirmed(by: offer, isAnswer: false, hasFailed: false) == opened)
    #expect(try offer.opened(by: "open").offer.manner == .once)
  }

  @Test(arguments: [[], [0x08, 1, 2, 3]] as [[UInt8]])
  func `a tag without a UID that stays has no such button`(_ uid: [UInt8]) throws {
    let offer = try offer(uid: uid)
    #expect(!keys(offer).contains("always") && offer.alwaysAction == nil)
    // Another program may send the key.
    #expect(try offer.opened(by: "always").offer.manner == .once)
  }

  @Test func `a tag of Type B may have another UID at the next tap, so it has no such button`() throws {
    #expect(!keys(try offer(uid: [1, 2, 3, 4], technology: "type-4b")).contains("always"))
    #expect(keys(try offer(uid: [1, 2, 3, 4], technology: "type-4a")).contains("always"))
  }

  @Test func `a rule that decides first, or needs no click, and a bare tag have no such button`() throws {
    #expect(!keys(try offer(rule: rule(.run(["/bin/true"]), file: "/x/added.conf"))).contains("always"))
    #expect(!keys(try offer(rule: rule(.run(["/bin/true"]), asks: false))).contains("always"))
    #expect(!keys(try offer(rule: rule(.show))).contains("always"))
    #expect(!keys(try offer(nil, rule: rule(.run(["/bin/true"])))).contains("always"))
    #expect(keys(try offer(rule: rule(.run(["/bin/true"])))).contains("always"))
  }

  @Test func `the rule has the action that was offered`() throws {
    let app = try #require(try offer().alwaysAction)
    #expect(app.action == .open("org.example.Menu.desktop") && app.onRemove.isEmpty)
    #expect(app.conditions == [.handler("org.example.Menu.desktop")])
    let browser = try #require(try offer("https://elsewhere.example.net/").alwaysAction)
    #expect(browser.action == .openDefault && browser.conditions.isEmpty)
    let program = try #require(try offer(rule: rule(.run(["/p", "a"]), onRemove: ["/q"])).alwaysAction)
    #expect(program.action == .run(["/p", "a"]) && program.onRemove == ["/q"] && program.conditions.isEmpty)
  }

  @Test func `the rule keeps the handler of the rule that decided, and names the one that opens the tag anyway`() throws
  {
    let menu = TapRule.Condition.handler("org.example.Menu.desktop")
    let kept = try #require(try offer(rule: rule(.run(["/p"]), [menu, .technology("type-2")])).alwaysAction)
    #expect(kept.action == .run(["/p"]) && kept.conditions == [menu])
    // The app that the rule opens opens the tag without rules, too.
    let same = TapRule.Action.open("org.example.Menu.desktop")
    #expect(try offer(rule: rule(same)).alwaysAction?.conditions == [menu])
    #expect(try offer(rule: rule(same, [menu])).alwaysAction?.conditions == [menu])
    // Without rules, the browser opens this link.
    let elsewhere = try #require(try offer("https://elsewhere.example.net/", rule: rule(same)).alwaysAction)
    #expect(elsewhere.action == same && elsewhere.conditions.isEmpty)
  }

  @Test func `a record of a type that a rule names opens at once after the click`() throws {
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array("application/x-foo".utf8), payload: [1])
    let message = try NDEFMessage(records: [record]).encoded()
    let viewer = sampleApplication("viewer", .system)
    func offer(_ rules: [TapRule]) throws -> TapOffer {
      var set = RuleSet(rules)
      set.applications["viewer.desktop"] = RuleSet.NamedApplication(viewer, takesLinks: false, takesFiles: true)
      let read = try TagRead(tapValues(1, message: message, uid: Self.uid), now: sampleMicroseconds)
      return TapOffer(read, registry: Registry(), policy: RoutingPolicy(), languages: [], rules: set)
    }
    let written = rule(.open("viewer.desktop"), [.mimeType("application/x-foo")])
    let (conditions, action, _, _) = try #require(try offer([written]).alwaysAction)
    #expect(conditions == [.mimeType("application/x-foo")])
    let always = rule(
      action, [.uid(Self.uid), .message(MessageDigest.sha256(message))] + conditions, file: "/x/always.conf",
      asks: false)
    let next = try offer([always, written])
    #expect(next.rule == always && next.handler == viewer && next.mayOpenAtOnce)
  }

  @Test func `the rule is written once, after the tap was handed over`() throws {
    var policy = TapPolicy()
    let plain = try offer()
    _ = policy.handle(.stored(plain))
    let offer = plain.opening(.always)
    #expect(
      policy.open(offer, token: "t") == [
        .closeNotification(offer.id), .handOver(plain, token: "t"), .openAlways(offer),
      ])
    _ = policy.handle(.handedOver(plain, .failed(HandOverFailure(.commandMissing, ""))))
    #expect(policy.answer(to: "retry", of: plain.id) == .open(plain, nil))
  }

  @Test func `only the button of the notice takes the rule back`() throws {
    var policy = TapPolicy()
    let offer = try offer(rule: rule(.run(["/bin/true"]), asks: false)).opening(.withoutClick)
    #expect(policy.answer(to: "ask-next-time", of: offer.id) == .showAgain)
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, .delivered))
    #expect(policy.isOpenedAtOnce(offer.id))
    #expect(policy.answer(to: "ask-next-time", of: offer.id) == .askNextTime(offer))
    #expect(policy.answer(to: "default", of: offer.id) == .nothing)
    let notice = offer.openedNotice
    #expect(notice.buttons.map(\.label) == ["Ask next time"] && notice.defaultAction.label == "Close")
    let written = AlwaysNotice.written(rule(.show))
    #expect(written.body.string == "The rule “lamp” opens this tag. Change it here: /x/lamp.conf:3")
  }
}
