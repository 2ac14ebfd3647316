import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

/// “Always open this tag at once” and “Ask next time”, without a bus.
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
    let reading = try TagReading(tapValues(1, message: message, uid: uid, technology: technology), now: sampleTime)
    return TapOffer(
      reading, registry: registry, policy: RoutingPolicy(), languages: [],
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

  private func keys(_ offer: TapOffer) -> [String] { offer.notification(timeout: -1, canCopy: true).buttons.map(\.key) }

  @Test func `the button is the last but one, and opens the tap`() throws {
    let offer = try offer()
    #expect(keys(offer) == ["open", "alternative", "always", "dismiss"])
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
      let reading = try TagReading(tapValues(1, message: message, uid: Self.uid), now: sampleTime)
      return TapOffer(reading, registry: Registry(), policy: RoutingPolicy(), languages: [], rules: set)
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
    #expect(policy.answer(to: "retry", of: plain.id, canCopy: true) == .open(plain, nil))
  }

  @Test func `only the button of the notice takes the rule back`() throws {
    var policy = TapPolicy()
    let offer = try offer(rule: rule(.run(["/bin/true"]), asks: false)).opening(.withoutClick)
    #expect(policy.answer(to: "ask-next-time", of: offer.id, canCopy: true) == .showAgain)
    _ = policy.open(offer, token: nil)
    _ = policy.handle(.handedOver(offer, .delivered))
    #expect(policy.isOpenedAtOnce(offer.id))
    #expect(policy.answer(to: "ask-next-time", of: offer.id, canCopy: true) == .askNextTime(offer))
    #expect(policy.answer(to: "default", of: offer.id, canCopy: true) == .nothing)
    let notice = offer.openedNotice
    #expect(notice.buttons.map(\.label) == ["Ask next time"] && notice.defaultAction.label == "Close")
    let written = AlwaysNotice.written(rule(.show))
    #expect(written.body.string == "The rule “lamp” opens this tag. Change it here: /x/lamp.conf:3")
  }
}
