import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

/// A tag, an app or a click at the wrong time must not mislead the user who answers a question.
struct MisleadingQuestionTests {
  private func offer(
    _ claims: [(Application, String)], uri: String = "https://menu.example.com/7",
    choices: HandlerChoices = HandlerChoices()
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: try claims.map { HandlerDeclaration(application: $0, domains: [try DomainPattern($1)]) },
      defaults: ["https": sampleBrowser], shownName: { TapOffer.name(of: $0).string })
    let reading = try TagReading(tapValues(1, message: try uriMessage(uri)), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: RoutingPolicy(choices: choices), languages: [])
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
      notification.buttons.map(\.label) == ["Menu (org.example.Menu.desktop)", "Allow Menu (x.desktop)", "Open in Web"])
    // The choice is kept only for the domain in the question.
    let (opened, choice) = try offer.opened(by: "candidate-0")
    #expect(opened.handler == theirs && choice == .prefer(theirs, claim: "menu.example.com"))
  }

  @Test func `an app with the name of another installed app is shown with its desktop id`() throws {
    let mine = sampleApplication("x", name: "MENU", .user)
    let other = sampleApplication("org.example.Menu", name: "Menu", .system)
    let question = shown(try offer([(mine, "menu.example.com"), (other, "elsewhere.example.net")])).summary.string
    #expect(question == "menu.example.com links: allow “MENU (x.desktop)” to open them?")
    let asBrowser = shown(try offer([(sampleApplication("x", name: "Web", .user), "menu.example.com")])).summary.string
    #expect(asBrowser.hasSuffix("allow “Web (x.desktop)” to open them?"))
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
      #expect(question.contains("(x.desktop)"), "\(question)")
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
    #expect(offer.candidates.count == 10_000 && offer.offered.count == TapOffer.maximumOffered)
    // An app that is not shown has not been allowed either.
    #expect(offer.needsPermission(try #require(offer.candidates.last).desktopID))
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
