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

  /// The title and the buttons, with those behind “More…”.
  private func shown(_ offer: TapOffer) -> (title: String, first: [String], more: [String]) {
    let (first, more) = (offer.notification(timeout: -1), offer.notification(timeout: -1, more: true))
    #expect(more.summary == first.summary && more.body == first.body && more.defaultAction == first.defaultAction)
    func words(_ notification: Notification) -> [String] { notification.buttons.flatMap { [$0.key, $0.label] } }
    return (first.summary.string, words(first), more.buttons == first.buttons ? [] : words(more))
  }

  private let dismiss = ["dismiss", "Dismiss"]

  private func opened(_ offer: TapOffer, by action: String) -> (String?, Bool, HandlerChoices.Change?) {
    guard case .open(let other, let choice) = offer.answer(to: action) else { return (nil, false, nil) }
    return (other.handler?.desktopID, other.handsOverMessage, choice)
  }

  @Test func `an app that no one vouches for needs permission, and the browser is behind another button`() throws {
    let mine = sampleApplication("mine", name: "M“y” \"Menu\"", .user)
    let offer = try offer([mine])
    #expect(
      shown(offer) == (
        "Allow “My Menu” to open links?", ["allow", "Allow and Open", "more", "More…"] + dismiss,
        ["alternative", "Open in Web"]
      ))
    #expect(offer.answer(to: "more") == .more)
    #expect(offer.notification(timeout: -1).defaultAction.label == "Ask again")
    #expect(opened(offer, by: "allow") == ("mine.desktop", true, .prefer(mine, claim: "menu.example.com")))
    #expect(opened(offer, by: "alternative") == ("web.desktop", false, nil))
    #expect(shown(try self.offer([mine], hasBrowser: false)).first == ["allow", "Allow and Open"] + dismiss)
  }

  @Test(arguments: [
    ("*.example.com", "Links to *.example.com, from now on"),
    ("menu.example.com", "Links to menu.example.com, from now on"),
  ])
  func `the first line below the question names the claim that the answer is kept for`(
    claim: String, line: String
  ) throws {
    let mine = sampleApplication("mine", .user)
    let offer = try offer([mine], claim: claim)
    #expect(offer.notification(timeout: -1).body.string == "\(line)\nmenu.example.com/7")
    #expect(opened(offer, by: "allow").2 == .prefer(mine, claim: claim))
  }

  @Test func `of several apps at most three have a button, and the button says if it grants permission`() throws {
    let (first, second) = (sampleApplication("b", name: "Menu", .system), sampleApplication("a", name: "Menu", .user))
    let two = try offer([first, second])
    #expect(
      shown(two) == (
        "Which app opens these links?",
        ["candidate-0", "Menu (b)", "candidate-1", "Allow Menu (a)", "more", "More…"],
        ["alternative", "Open in Web"]
      ))
    #expect(two.notification(timeout: -1).body.string.hasSuffix("\nmenu.example.com/7"))
    #expect(opened(two, by: "candidate-0") == ("b.desktop", true, .prefer(first, claim: "menu.example.com")))
    #expect(opened(two, by: "candidate-1") == ("a.desktop", true, .prefer(second, claim: "menu.example.com")))
    let five = try offer((1...5).map { sampleApplication("app\($0)", .system) })
    #expect(shown(five).first == ["candidate-0", "app1", "candidate-1", "app2", "more", "More…"])
    #expect(shown(five).more == ["candidate-2", "app3", "alternative", "Open in Web"])
  }

  @Test func `a choice is not asked again in the same tap, and a failed one can be tried again`() throws {
    let offer = try offer([sampleApplication("mine", .user)])
    let chosen = try #require(offer.handed(to: "mine.desktop"))
    #expect(chosen.question == .nothing)
    #expect(
      chosen.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1).summary.string
        == "Could not open in mine")
    #expect(opened(chosen, by: "retry") == ("mine.desktop", true, nil))
    #expect(offer.needsPermission("mine.desktop") && !offer.needsPermission("web.desktop"))
    // A retry must not replace an answer that the user never gave.
    #expect(
      offer.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1).summary.string
        .contains("Allow"))
  }

  @Test func `an app that opens at once has the browser beside it, also after a failure`() throws {
    let system = sampleApplication("theirs", .system)
    let offer = try offer([system])
    let first = ["open", "Open", "more", "More…"] + dismiss
    let always = ["always", "Always open at once"]
    #expect(shown(offer) == ("Open in theirs", first, ["alternative", "Open in Web"] + always))
    #expect(opened(offer, by: "alternative") == ("web.desktop", false, nil))
    let failed = offer.notification(failed: TapReason(.notStarted), timeout: -1)
    #expect(failed.buttons.map(\.key) == ["retry", "more", "dismiss"])
    let inBrowser = try #require(offer.alone(in: "web.desktop"))
    #expect(shown(inBrowser) == ("Open in Web", first, always))
    #expect(inBrowser.answer(to: "alternative") == .showAgain)
    for offer in [offer, inBrowser, try self.offer([sampleApplication("mine", .user)])] {
      #expect(offer.answer(to: "dismiss") == .dismiss)
    }
  }

  @Test func `a link that no app opens is shown and can be copied`() throws {
    let offer = try offer([], hasBrowser: false, message: try uriMessage("https://menu.example.com/7?x=1"))
    #expect(shown(offer) == ("No app opens this link", ["copy", "Copy"] + dismiss, []))
    #expect(offer.text.string == "menu.example.com/7?…")
    #expect(offer.words.string == "https://menu.example.com/7?x=1")
    #expect(offer.copied == "https://menu.example.com/7?x=1")
    for action in ["copy", "default", "retry"] {
      #expect(offer.answer(to: action) == .open(offer, nil))
    }
    #expect(
      offer.notification(failed: TapReason(.notStarted, detail: "why"), timeout: -1).summary.string
        == "Could not copy")
  }

  @Test func `a text is shown in the user's language and with its lines, and copied on one line`() throws {
    let texts = try [
      TextRecord("Good morning", language: "en").record(),
      TextRecord("Guten\r\nMorgen\u{1B}[2J\u{202E}" + String(repeating: "!", count: 5000), language: "de").record(),
    ]
    let message = try NDEFMessage(records: texts).encoded()
    let english = try offer([], message: message)
    #expect(
      shown(english) == ("Text on a tag", ["copy", "Copy"] + dismiss, []) && english.text.string == "Good morning")
    let german = try offer([], message: message, languages: ["de_AT", "de"])
    #expect(german.copied.hasPrefix("Guten Morgen [2J!!!") && german.copied.count == 4096)
    #expect(german.tap.title.hasPrefix("Guten Morgen [2J!!!") && german.tap.title.count == 200)
    #expect(german.text.string.hasPrefix("Guten\nMorgen [2J!!!") && german.text.string.count == 200)
    #expect(german.notification(timeout: -1).body == german.text)
  }

  @Test func `a text of many lines does not push the buttons off the screen`() throws {
    let text = (1...20).map { "line \($0)\n\n\n" }.joined()
    let message = try NDEFMessage(records: [TextRecord(text, language: "en").record()]).encoded()
    let body = try offer([], message: message).notification(timeout: -1).body.string
    #expect(body.hasPrefix("line 1\n\nline 2\n\nline 3\n\nline 4\nline 5 line 6 "), "\(body)")
    #expect(body.count { $0 == "\n" } == 7)
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

  private func shown(_ offer: TapOffer) -> Notification { offer.notification(timeout: -1) }

  @Test func `a question about a long domain shows its end, for any app name`() throws {
    let front = "accounts.bank.example." + String(repeating: "a", count: 60) + "."
    let host = front + String(repeating: "b.", count: 52) + "evil.example"
    #expect(host.count > 190)
    let name = String(repeating: "N", count: 60)
    let mine = sampleApplication("mine", name: name, .user)
    let question = "Allow “\(String(repeating: "N", count: 16))…” to open links?"
    for (claim, shownClaim) in [(host, "…"), ("*." + String(host.drop { $0 != "." }.dropFirst()), "*.…")] {
      let one = try offer([(mine, claim)], uri: "https://\(host)/")
      #expect(shown(one).summary.string == question && question.count == Messages.maximumTitle)
      let lines = shown(one).body.string.split(separator: "\n")
      try #require(lines.count == 3)
      #expect(lines[0].hasPrefix("Links to \(shownClaim)") && lines[0].hasSuffix(".evil.example, from now on"))
      #expect(!lines[0].contains("bank"), "\(lines)")
      // The name that the title cuts is shown as a whole.
      #expect(lines[2] == name)
      #expect(
        one.answer(to: "allow")
          == .open(try #require(one.handed(to: "mine.desktop")), .prefer(mine, claim: claim)))
      let two = try offer([(mine, claim), (sampleApplication("other", .user), claim)], uri: "https://\(host)/")
      #expect(shown(two).summary.string == "Which app opens these links?")
      #expect(shown(two).body.string.split(separator: "\n") == lines.prefix(2) + [lines[2], "other"])
    }
  }

  @Test func `a click on the question itself or on an unknown button is no answer`() throws {
    let (mine, theirs) = (sampleApplication("mine", .user), sampleApplication("theirs", .system))
    let one = try offer([(mine, "menu.example.com")])
    for action in ["default", "open", "retry", "copy", "candidate-0", "nonsense"] {
      #expect(one.answer(to: action) == .showAgain, "\(action)")
    }
    let two = try offer([(mine, "menu.example.com"), (theirs, "menu.example.com")])
    #expect(two.question == .which)
    for action in [
      "default", "open", "allow", "candidate-2", "candidate-7", "candidate--1", "candidate-", "candidate-+1",
    ] {
      #expect(two.answer(to: action) == .showAgain, "\(action)")
    }
    let trusted = try offer([(theirs, "menu.example.com")])
    for action in ["allow", "candidate-0"] {
      #expect(trusted.answer(to: action) == .showAgain, "\(action)")
    }
    #expect(trusted.answer(to: "default") == .open(trusted, nil))
  }

  @Test func `an app with a more exact claim does not hide the trusted app or pass under its name`() throws {
    let (theirs, mine) = (
      sampleApplication("org.example.Menu", name: "Menu", .system), sampleApplication("x", name: "Menu\u{200B}", .user)
    )
    let offer = try offer([(theirs, "*.example.com"), (mine, "menu.example.com")])
    let notification = shown(offer)
    #expect(notification.summary.string == "Which app opens these links?")
    #expect(notification.buttons.map(\.label) == ["Menu (org.exa…", "Allow Menu (x)", "More…"])
    #expect(notification.body.string.hasSuffix("\nMenu (org.example.Menu)\nMenu (x)"))
    // The choice is kept only for the domain in the question.
    let (opened, choice) = try offer.opened(by: "candidate-0")
    #expect(opened.handler == theirs && choice == .prefer(theirs, claim: "menu.example.com"))
  }

  @Test func `an app with the name of another installed app is shown with its desktop id`() throws {
    let mine = sampleApplication("x", name: "MENU", .user)
    let other = sampleApplication("org.example.Menu", name: "Menu", .system)
    let question = shown(try offer([(mine, "menu.example.com"), (other, "elsewhere.example.net")])).summary.string
    #expect(question == "Allow “MENU (x)” to open links?")
    let asBrowser = shown(try offer([(sampleApplication("x", name: "Web", .user), "menu.example.com")])).summary.string
    #expect(asBrowser == "Allow “Web (x)” to open links?")
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
      let question = shown(try offer([(mine, "menu.example.com"), (other, "elsewhere.example.net")]))
      #expect("\(question.summary)\n\(question.body)".contains("(x)"), "\(question)")
    }
  }

  @Test func `no character in a name ends its quotation marks`() throws {
    for mark in ["”\u{FE0F}", "″", "＂", "‟", "„", "\"\u{20DD}", "〞", "🙷", "」", "｣", "»"] {
      let mine = sampleApplication("mine", name: "Menu\(mark) to open nothing", .user)
      let title = shown(try offer([(mine, "menu.example.com")])).summary.string
      #expect(title.unicodeScalars.starts(with: "Allow “Menu".unicodeScalars))
      let name = title.dropFirst("Allow “".count).dropLast("” to open links?".count)
      #expect(!name.unicodeScalars.contains { mark.unicodeScalars.first == $0 }, "\(title)")
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
