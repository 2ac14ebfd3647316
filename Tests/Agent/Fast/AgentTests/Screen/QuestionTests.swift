import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

struct QuestionTests {
  private func offer(
    _ applications: [Application], claim: String = "menu.example.com", hasBrowser: Bool = true,
    message: [UInt8]? = nil, languages: [String] = []
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: try applications.map { HandlerDeclaration(application: $0, domains: [try DomainPattern(claim)]) },
      defaults: hasBrowser ? ["https": sampleBrowser] : [:])
    let message = try message ?? uriMessage("https://menu.example.com/7")
    let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: RoutingPolicy(), languages: languages)
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
        ["candidate-0", "Menu (b)", "candidate-1", "Allow Menu (a)", "alternative", "Open in Web"]
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

/// A tag, an app or a click at the wrong time must not mislead a user in a question.
struct MisleadingQuestionTests {
  private func offer(
    _ claims: [(Application, String)], uri: String = "https://menu.example.com/7",
    choices: HandlerChoices = HandlerChoices()
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: try claims.map { HandlerDeclaration(application: $0, domains: [try DomainPattern($1)]) },
      defaults: ["https": sampleBrowser], shownName: { TapOffer.name(of: $0).string })
    let read = try TagRead(tapValues(1, message: try uriMessage(uri)), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: RoutingPolicy(choices: choices), languages: [])
  }

  private func shown(_ offer: TapOffer) -> Notification { offer.notification(timeout: -1, canCopy: true) }

  @Test func `a question about a long domain shows its end, for any app name`() throws {
    let front = "accounts.bank.example." + String(repeating: "a", count: 60) + "."
    let host = front + String(repeating: "b.", count: 52) + "evil.example"
    #expect(host.count > 190)
    let name = String(repeating: "N", count: 60)
    let mine = sampleApplication("mine", name: name, .user)
    for (claim, shownClaim) in [(host, "…"), ("*." + String(host.drop { $0 != "." }.dropFirst()), "*.…")] {
      let one = try offer([(mine, claim)], uri: "https://\(host)/")
      let title = shown(one).summary.string
      #expect(
        title.hasPrefix("\(shownClaim)") && title.hasSuffix(".evil.example links: allow “\(name)” to open them?"),
        "\(title)")
      #expect(!title.contains("bank"))
      #expect(
        one.answer(to: "allow", canCopy: true)
          == .open(try #require(one.handed(to: "mine.desktop")), .prefer(mine, claim: claim)))
      let two = try offer([(mine, claim), (sampleApplication("other", .user), claim)], uri: "https://\(host)/")
      let which = shown(two).summary.string
      #expect(
        which.hasPrefix("\(shownClaim)") && which.hasSuffix(".evil.example links: which app opens them?"), "\(which)")
    }
  }

  @Test func `a click on the question itself or on an unknown button is no answer`() throws {
    let (mine, theirs) = (sampleApplication("mine", .user), sampleApplication("theirs", .system))
    let one = try offer([(mine, "menu.example.com")])
    for action in ["default", "open", "retry", "copy", "candidate-0", "nonsense"] {
      #expect(one.answer(to: action, canCopy: true) == .showAgain, "\(action)")
    }
    let two = try offer([(mine, "menu.example.com"), (theirs, "menu.example.com")])
    #expect(two.question == .which)
    for action in [
      "default", "open", "allow", "candidate-2", "candidate-7", "candidate--1", "candidate-", "candidate-+1",
    ] {
      #expect(two.answer(to: action, canCopy: true) == .showAgain, "\(action)")
    }
    let trusted = try offer([(theirs, "menu.example.com")])
    for action in ["allow", "candidate-0"] {
      #expect(trusted.answer(to: action, canCopy: true) == .showAgain, "\(action)")
    }
    #expect(trusted.answer(to: "default", canCopy: true) == .open(trusted, nil))
  }

  @Test func `an app with a more exact claim does not hide the trusted app or pass under its name`() throws {
    let (theirs, mine) = (
      sampleApplication("org.example.Menu", name: "Menu", .system), sampleApplication("x", name: "Menu\u{200B}", .user)
    )
    let offer = try offer([(theirs, "*.example.com"), (mine, "menu.example.com")])
    let notification = shown(offer)
    #expect(notification.summary.string == "menu.example.com links: which app opens them?")
    #expect(
      notification.buttons.map(\.label) == ["Menu (org.example.Menu)", "Allow Menu (x)", "Open in Web"])
    // The choice is kept only for the domain in the question.
    let (opened, choice) = try offer.opened(by: "candidate-0")
    #expect(opened.handler == theirs && choice == .prefer(theirs, claim: "menu.example.com"))
  }

  @Test func `an app with the name of another installed app is shown with its desktop id`() throws {
    let mine = sampleApplication("x", name: "MENU", .user)
    let other = sampleApplication("org.example.Menu", name: "Menu", .system)
    let question = shown(try offer([(mine, "menu.example.com"), (other, "elsewhere.example.net")])).summary.string
    #expect(question == "menu.example.com links: allow “MENU (x)” to open them?")
    let asBrowser = shown(try offer([(sampleApplication("x", name: "Web", .user), "menu.example.com")])).summary.string
    #expect(asBrowser.hasSuffix("allow “Web (x)” to open them?"))
  }

  @Test(arguments: [
    ("M\u{E9}nu", "Me\u{301}nu"), ("Menu", "Me\u{323}nu"), ("Menu", "“Menu” \u{2800}!"),
    ("Menu", "Menu" + String(repeating: "\u{200B}", count: 1000) + "x"),
    (String(repeating: "Menu ", count: 12) + "a", String(repeating: "Menu ", count: 12) + "b"),
  ])
  func `names that look alike on the screen are shown with their desktop ids`(name: String, like: String) throws {
    for (name, like) in [(name, like), (like, name)] {
      let mine = sampleApplication("x", name: name, .user)
      let other = sampleApplication("org.example.Menu", name: like, .system)
      let question = shown(try offer([(mine, "menu.example.com"), (other, "elsewhere.example.net")])).summary.string
      #expect(question.contains("(x)"), "\(question)")
    }
  }

  @Test func `no character in a name ends its quotation marks`() throws {
    for mark in ["”\u{FE0F}", "″", "＂", "‟", "„", "\"\u{20DD}", "〞", "🙷", "」", "｣", "»"] {
      let mine = sampleApplication("mine", name: "Menu\(mark) to open nothing", .user)
      let title = shown(try offer([(mine, "menu.example.com")])).summary.string
      #expect(!title.unicodeScalars.dropFirst(7).prefix(20).contains { mark.unicodeScalars.first == $0 }, "\(title)")
    }
  }

  @Test func `of ten thousand apps for one domain only the shown ones are examined`() throws {
    let apps = (0..<10_000).map { sampleApplication("app\($0)", .user) }
    let offer = try offer(apps.map { ($0, "menu.example.com") })
    #expect(offer.route.candidates.count == 10_000 && offer.offered.count == TapOffer.maximumOffered)
    // An app that is not shown has not been allowed either.
    #expect(offer.needsPermission(try #require(offer.route.candidates.last).desktopID))
    var count = 0
    let claimants = sequence(state: 0) { (state: inout Int) -> Candidate? in
      count += 1
      state += 1
      return state <= 10_000 ? offer.offered[state % 3] : nil
    }
    #expect(TapOffer.offered(of: claimants).count == TapOffer.maximumOffered)
    #expect(count <= TapOffer.maximumOffered)
  }

  @Test func `the complete link is copied, however long`() throws {
    let uri = "x-nobody:" + String(repeating: "a", count: 8000)
    let offer = try offer([], uri: uri)
    #expect(!offer.isOpenable && offer.copied == uri)
  }
}

/// The icon of a desktop entry that any program may have written.
struct ShownIconTests {
  private func shown(_ icon: String?) -> String {
    Application(desktopID: "x.desktop", name: "X", icon: icon, file: "/f", origin: .user).shownIcon
  }

  @Test(arguments: [
    "menu", "org.example.Menu", "menu-1_2+x", "Menü", "/usr/share/pixmaps/menu.png", "/home/a b/.icons/menu.svg",
    String(repeating: "a", count: 255), "/devices/x.png",
  ])
  func `an icon name of the theme and an icon file are shown`(icon: String) {
    #expect(shown(icon) == icon)
  }

  @Test(arguments: [
    nil, "", "http://evil.example/i.png", "https:evil", "data:image/png;base64,AAAA", "file:///etc/passwd", "//", "/",
    "../../etc/passwd", "menu/x", ".hidden", "/usr/../dev/zero", "/./dev/zero",
    "/./proc/self/fd/0", "/usr/./x", "/dev/zero", "//dev/zero", "/proc/self/fd/0", "/sys/x",
    "/dev/\u{301}/../zero", "/dev/\u{301}x",
    "a\nb", "a\u{1B}[31m", "/a\u{202E}gnp.exe", "/a\nb.png", "a b", "a\u{200B}b", ". GThemedIcon a b",
    String(repeating: "a", count: 256), "/" + String(repeating: "a", count: 4096),
  ])
  func `any other icon is replaced by the generic app icon`(icon: String?) {
    #expect(shown(icon) == "application-x-executable")
  }
}
