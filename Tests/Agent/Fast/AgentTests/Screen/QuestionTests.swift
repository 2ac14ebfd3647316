import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

/// The question of a notification, and the effect of a click on it.
struct QuestionTests {
  private func offer(
    _ applications: [Application], claim: String = "menu.example.com", hasBrowser: Bool = true,
    message: [UInt8]? = nil, languages: [String] = []
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: try applications.map { HandlerDeclaration(application: $0, domains: [try DomainPattern(claim)]) },
      defaults: hasBrowser ? ["https": sampleBrowser] : [:])
    let message = try message ?? uriMessage("https://menu.example.com/7")
    let reading = try TagReading(tapValues(1, message: message), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: RoutingPolicy(), languages: languages)
  }

  private func shown(_ offer: TapOffer, canCopy: Bool = true) -> (String, [String]) {
    let notification = offer.notification(timeout: -1, canCopy: canCopy)
    return (notification.summary.string, notification.buttons.flatMap { [$0.key, $0.label] })
  }

  private func opened(_ offer: TapOffer, by action: String) -> (String?, Bool, HandlerChoices.Change?) {
    guard case .open(let other, let choice) = offer.answer(to: action, canCopy: true) else { return (nil, false, nil) }
    return (other.handler?.desktopID, other.handsOverMessage, choice)
  }

  @Test func `an app that no one vouches for needs permission, and the browser is offered beside it`() throws {
    let mine = sampleApplication("mine", name: "M“y” \"Menu\"", .user)
    let offer = try offer([mine])
    #expect(
      shown(offer) == (
        "menu.example.com links: allow “My Menu” to open them?",
        ["allow", "Allow and Open", "alternative", "Open in Web", "dismiss", "Dismiss"]
      ))
    #expect(offer.notification(timeout: -1, canCopy: true).defaultAction.label == "Ask again")
    #expect(opened(offer, by: "allow") == ("mine.desktop", true, .prefer(mine, claim: "menu.example.com")))
    #expect(opened(offer, by: "alternative") == ("web.desktop", false, nil))
    #expect(shown(try self.offer([mine], hasBrowser: false)).1 == ["allow", "Allow and Open", "dismiss", "Dismiss"])
  }

  @Test(arguments: [
    ("*.example.com", "*.example.com links: allow “mine” to open them?"),
    ("menu.example.com", "menu.example.com links: allow “mine” to open them?"),
  ])
  func `the question names the claim that the answer is kept for`(claim: String, question: String) throws {
    let mine = sampleApplication("mine", .user)
    let offer = try offer([mine], claim: claim)
    #expect(shown(offer).0 == question)
    #expect(opened(offer, by: "allow").2 == .prefer(mine, claim: claim))
  }

  @Test func `of several apps at most three have a button, and the button says if it grants permission`() throws {
    let (first, second) = (sampleApplication("b", name: "Menu", .system), sampleApplication("a", name: "Menu", .user))
    let two = try offer([first, second])
    #expect(
      shown(two) == (
        "menu.example.com links: which app opens them?",
        ["candidate-0", "Menu (b.desktop)", "candidate-1", "Allow Menu (a.desktop)", "alternative", "Open in Web"]
      ))
    #expect(opened(two, by: "candidate-0") == ("b.desktop", true, .prefer(first, claim: "menu.example.com")))
    #expect(opened(two, by: "candidate-1") == ("a.desktop", true, .prefer(second, claim: "menu.example.com")))
    let five = try offer((1...5).map { sampleApplication("app\($0)", .system) })
    #expect(shown(five).1 == ["candidate-0", "app1", "candidate-1", "app2", "candidate-2", "app3"])
  }

  @Test func `a choice is not asked again in the same tap, and a failed one can be tried again`() throws {
    let offer = try offer([sampleApplication("mine", .user)])
    let chosen = try #require(offer.handed(to: "mine.desktop"))
    #expect(chosen.question == .nothing)
    #expect(
      chosen.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1, canCopy: true).summary.string
        == "Could not open in mine")
    #expect(opened(chosen, by: "retry") == ("mine.desktop", true, nil))
    #expect(offer.needsPermission("mine.desktop") && !offer.needsPermission("web.desktop"))
    // A retry must not replace an answer that the user never gave.
    #expect(
      offer.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1, canCopy: true).summary.string
        .contains("allow"))
  }

  @Test func `an app that opens at once has the browser beside it, also after a failure`() throws {
    let system = sampleApplication("theirs", .system)
    let offer = try offer([system])
    let always = ["always", "Always open this tag at once", "dismiss", "Dismiss"]
    #expect(shown(offer) == ("Open in theirs", ["open", "Open", "alternative", "Open in Web"] + always))
    #expect(opened(offer, by: "alternative") == ("web.desktop", false, nil))
    let failed = offer.notification(failed: TapReason(.notStarted), timeout: -1, canCopy: true)
    #expect(failed.buttons.map(\.key) == ["retry", "alternative", "dismiss"])
    let inBrowser = try #require(offer.alone(in: "web.desktop"))
    #expect(shown(inBrowser).1 == ["open", "Open"] + always)
    #expect(inBrowser.answer(to: "alternative", canCopy: true) == .showAgain)
    for offer in [offer, inBrowser, try self.offer([sampleApplication("mine", .user)])] {
      #expect(offer.answer(to: "dismiss", canCopy: true) == .dismiss)
    }
  }

  @Test func `a link that no app opens is shown and can be copied`() throws {
    let offer = try offer([], hasBrowser: false, message: try uriMessage("https://menu.example.com/7?x=1"))
    #expect(shown(offer) == ("No app opens this link", ["copy", "Copy", "dismiss", "Dismiss"]))
    #expect(offer.text.string == "menu.example.com/7?…")
    #expect(offer.words.string == "https://menu.example.com/7?x=1")
    #expect(offer.copied == "https://menu.example.com/7?x=1")
    for action in ["copy", "default", "retry"] {
      #expect(offer.answer(to: action, canCopy: true) == .open(offer, nil))
    }
    #expect(offer.answer(to: "default", canCopy: false) == .dismiss)
    let plain = offer.notification(timeout: -1, canCopy: false)
    #expect(plain.buttons.map(\.key) == ["dismiss"] && plain.defaultAction.label == "Dismiss")
    #expect(
      offer.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1, canCopy: true).summary.string
        == "Could not copy")
  }

  @Test func `a text is shown in the user's language, and copied without control characters`() throws {
    let texts = try [
      TextRecord("Good morning", language: "en").record(),
      TextRecord("Guten\r\nMorgen\u{1B}[2J\u{202E}" + String(repeating: "!", count: 5000), language: "de").record(),
    ]
    let message = try NDEFMessage(records: texts).encoded()
    let english = try offer([], message: message)
    #expect(
      shown(english) == ("Text on a tag", ["copy", "Copy", "dismiss", "Dismiss"])
        && english.text.string == "Good morning")
    let german = try offer([], message: message, languages: ["de_AT", "de"])
    #expect(german.words.string.hasPrefix("Guten Morgen [2J!!!") && german.words.string.count == 4096)
    #expect(german.text.string.count == 200)
  }

  @Test func `a text beside a link that may not be opened is not shown`() throws {
    let records = NDEFMessage.uri("javascript:alert(1)").records + [try TextRecord("Tap me", language: "en").record()]
    #expect(!(try offer([], message: try NDEFMessage(records: records).encoded()).isShown))
  }
}
