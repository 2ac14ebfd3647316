import Bus
import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

struct TapOfferTests {
  private func offer(_ message: [UInt8], languages: [String] = []) throws -> TapOffer {
    let registry = Registry(declarations: [
      HandlerDeclaration(application: menu, domains: [try DomainPattern("menu.example.com")])
    ])
    let reading = try TagReading(tapValues(1, message: message), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: RoutingPolicy(), languages: languages)
  }

  @Test func `a link is shown with its app and its target, without the scheme`() throws {
    let notification = try offer(try uriMessage("https://menu.example.com/table/4?x=1")).notification(
      timeout: -1, canCopy: true)
    #expect(notification.summary.string == "Open in Menu")
    #expect(notification.body.string == "menu.example.com/table/4?…")
    #expect(notification.icon == "menu")
    #expect(notification.defaultAction.label == "Open")
    #expect(notification.buttons.map(\.label) == ["Open", "Always open this tag at once", "Dismiss"])
    #expect(notification.desktopEntry == "")
  }

  @Test func `a Smart Poster shows its title in the user's language, and its target`() throws {
    let poster = SmartPosterRecord(
      uri: "https://menu.example.com/a",
      titles: [TextRecord("Lunch\u{202E}", language: "en"), TextRecord("Mittag", language: "de")])
    let message = try NDEFMessage(records: [try poster.record()]).encoded()
    #expect(try offer(message, languages: ["de-AT", "de"]).text.string == "Mittag · menu.example.com/a")
    #expect(try offer(message, languages: ["en"]).text.string == "Lunch · menu.example.com/a")
  }

  @Test func `a title is short, and comes before the link only if a trusted app opens it`()
    throws
  {
    let claim = "menu.mybank.example – official login " + String(repeating: "x", count: 100)
    let poster = SmartPosterRecord(uri: "https://menu.example.com/a", titles: [TextRecord(claim, language: "en")])
    let message = try NDEFMessage(records: [try poster.record()]).encoded()
    let offer = try offer(message)
    let link = "menu.example.com/a"
    #expect(offer.text.string.hasPrefix("menu.mybank.example – ") && offer.text.string.hasSuffix("… · \(link)"))
    #expect(offer.text.string.count == "\(link) · ".count + 60)
    // The link alone, as a browser gets it.
    #expect(offer.handed(to: menu, whole: false).text.string.hasPrefix("\(link) · menu.mybank.example – "))
    let user = Application(desktopID: "mine.desktop", name: "Mine", file: "/f", origin: .user)
    let registry = Registry(declarations: [
      HandlerDeclaration(application: user, domains: [try DomainPattern("menu.example.com")])
    ])
    let reading = try TagReading(tapValues(1, message: message), now: sampleTime)
    let asked = TapOffer(reading, registry: registry, policy: RoutingPolicy(), languages: [])
    #expect(asked.question != .nothing && asked.text.string.hasPrefix("\(link) · "))
  }

  /// Swift sees each of these as one character, however long.
  @Test(arguments: ["\u{1100}", "👩\u{200D}", "क\u{94D}"])
  func `a long title or name does not push the domain out of view`(piece: String) throws {
    let long = String(repeating: piece, count: 960)
    let poster = SmartPosterRecord(uri: "https://menu.example.com/a", titles: [TextRecord(long, language: "en")])
    let shown = try offer(try NDEFMessage(records: [try poster.record()]).encoded()).text.string
    #expect(shown.hasSuffix("… · menu.example.com/a") && shown.unicodeScalars.count <= 60 * 4 + 30)
    let app = Application(desktopID: "x.desktop", name: long, file: "/f", origin: .user)
    let title = Messages.mayOpen(TapOffer.name(of: app), links: "menu.example.com")
    let shownTitle = DisplayText(title, limit: 500).string
    #expect(shownTitle.hasPrefix("menu.example.com links: allow “") && shownTitle.hasSuffix("…” to open them?"))
    #expect(title.unicodeScalars.count <= 60 * 4 + 60)
  }

  @Test(arguments: [("https://menu.example.com/b", ""), ("https://menu.example.com/a", "Lunch · ")])
  func `a title is shown only for the link that is opened`(poster: String, shown: String) throws {
    let record = try SmartPosterRecord(uri: poster, titles: [TextRecord("Lunch", language: "en")]).record()
    let message = NDEFMessage(records: [record, URIRecord("https://menu.example.com/a").record()])
    #expect(try offer(try message.encoded()).text.string == shown + "menu.example.com/a")
  }

  @Test(arguments: [
    "javascript:alert(1)", "https://user@menu.example.com/", "https://menu.example.com/\u{1}a",
  ])
  func `a refused link is not shown, and its reason contains no part of it`(uri: String) throws {
    let offer = try offer(try uriMessage(uri))
    #expect(!offer.isOpenable && !offer.isShown)
    #expect(!offer.reason.isEmpty)
    #expect(!offer.reason.contains("example"))
    #expect(!offer.reason.contains("alert"))
  }

  @Test func `a Smart Poster that is not examined is not refused`() throws {
    let poster = try SmartPosterRecord(uri: "https://menu.example.com/a", titles: []).record()
    let message = try NDEFMessage(records: [poster]).encoded()
    let reading = try TagReading(tapValues(1, message: message), now: sampleTime)
    let offer = TapOffer(
      reading, registry: Registry(declarations: []), policy: RoutingPolicy(smartPosters: false), languages: [])
    #expect(offer.tap(reading).title == "Link that is not opened")
  }

  @Test(arguments: [[], [0xFF], [0xD1, 0x01, 0xFF, 0x55], [UInt8](repeating: 0, count: 64)] as [[UInt8]])
  func `an invalid message has a reason`(message: [UInt8]) throws {
    let offer = try offer(message)
    #expect(!offer.isOpenable)
    #expect(!offer.reason.isEmpty)
  }

  @Test func `a damaged tag is kept with its reason, and rules by its UID apply`() throws {
    for message: [UInt8] in [[], [0xD1, 0x01], [0xD1, 0x01, 0x02, 0x55]] {
      var values = tapValues(1, message: message, uid: [4, 1, 2, 3])
      values["damage"] = .string("damaged: it is cut off")
      let reading = try TagReading(values, now: sampleTime)
      func offer(_ rules: RuleSet = RuleSet()) -> TapOffer {
        TapOffer(
          reading, registry: Registry(declarations: []), policy: RoutingPolicy(), languages: [], rules: rules)
      }
      #expect(!reading.isBare && !offer().isShown && offer().obstacle == .damaged)
      #expect(offer().ending.state == .failed)
      #expect(offer().ending.reason == TapReason(.damaged, detail: "damaged: it is cut off"))
      #expect(offer().tap(reading).title == "This tag is damaged" && offer().tap(reading).message == message)
      let file = RuleFile(Array("[Rule lamp]\nUID=04-01-02-03\nRun=true\nAsk=no\n".utf8), file: "f", origin: .user)
      #expect(offer(RuleSet(file.rules)).mayOpenAtOnce && offer(RuleSet(file.rules)).obstacle == nil)
    }
  }

  @Test func `a failure is named, and an unknown outcome says that the tap may have been opened`() throws {
    let offer = try offer(try uriMessage("https://menu.example.com/a"))
    let failed = offer.notification(failed: TapReason(.notStarted, detail: "it hangs"), timeout: 0, canCopy: true)
    #expect(failed.summary.string == "Could not open in Menu")
    #expect(failed.body.string == "menu.example.com/a · The app could not be started: “it hangs”")
    #expect(failed.buttons.map(\.label) == ["Try again", "Dismiss"])
    let unknown = offer.notification(failed: TapReason(.endedWhileOpening), timeout: -1, canCopy: true)
    #expect(unknown.summary.string == "May have been opened in Menu")
  }
}
