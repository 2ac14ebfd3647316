import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

/// Taps of tags without a link: their offer, their notification and their end.
struct RecordOfferTests {
  private let contacts = sampleApplication("org.example.Contacts", name: "Contacts", .system)
  private let own = sampleApplication("org.example.Own", name: "Own", .user)

  private func record(_ type: String, external: Bool = false) -> NDEFRecord {
    NDEFRecord(
      typeNameFormat: external ? .external : .mediaType, type: Array(type.utf8), payload: Array("BEGIN:VCARD".utf8))
  }

  private func offer(
    _ records: [NDEFRecord], _ declarations: [HandlerDeclaration] = [], contactsOpen types: [String] = [],
    policy: RoutingPolicy = RoutingPolicy()
  ) throws -> TapOffer {
    var registry = Registry(declarations: declarations)
    for type in types { registry.typeDefaults[type] = .application(contacts) }
    let read = try TagRead(
      tapValues(1, message: try NDEFMessage(records: records).encoded()), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: policy, languages: [])
  }

  @Test func `a contact card is offered to the default application, without its contents`() throws {
    let offer = try offer([record("text/vcard")], contactsOpen: ["text/vcard"])
    #expect(offer.isOpenable && offer.isShown && !offer.handsOverMessage && offer.uri == nil)
    let notification = offer.notification(timeout: -1)
    #expect(notification.summary.string == "Open in Contacts")
    #expect(notification.body.string == "Contact card")
    #expect(notification.buttons.map(\.label) == ["Open", "More…", "Dismiss"])
    #expect(offer.confirmed(by: offer, isAnswer: false, hasFailed: false) == offer)
  }

  @Test func `a handler that is not trusted needs permission for the type`() throws {
    let declaration = HandlerDeclaration(application: own, mimeTypes: ["text/vcard"])
    let offer = try offer([record("text/vcard")], [declaration], contactsOpen: ["text/vcard"])
    #expect(offer.question == .whetherAllowed && offer.handsOverMessage)
    let notification = offer.notification(timeout: -1)
    #expect(notification.summary.string == "Allow “Own” to open tags?")
    #expect(notification.body.string == "Tags with text/vcard, from now on\nContact card")
    #expect(notification.buttons.map(\.label) == ["Allow and Open", "More…", "Dismiss"])
    let more = offer.notification(timeout: -1, more: true)
    #expect(more.buttons.map(\.label) == ["Open in Contacts"])
    let (allowed, choice) = try offer.opened(by: "allow")
    #expect(allowed.handler == own && allowed.handsOverMessage)
    #expect(choice == .prefer(own, claim: "text/vcard"))
    let (other, kept) = try offer.opened(by: "alternative")
    #expect(kept == nil)
    #expect(other.handler == contacts && !other.handsOverMessage && other.isOpenable)
  }

  @Test(arguments: [
    ("text/vcard", false), ("example.com:coupon", true), ("android.com:pkg", true), ("a\u{7}/b", false),
  ])
  func `what no app takes is ignored, with the reason`(type: String, isExternal: Bool) throws {
    let offer = try offer([record(type, external: isExternal)])
    #expect(!offer.isShown && !offer.isOpenable)
    #expect(offer.ending.state == .dismissed)
    #expect(offer.ending.reason.code == .ignored)
    #expect(offer.ending.reason.detail.hasPrefix("the message has no URI record"))
  }

  @Test func `data of a type that no app opens is shown with its size, and cannot be opened or copied`() throws {
    let offer = try offer([TextRecord("", language: "en").record(), record("Text/HTML; charset=utf-8")])
    #expect(offer.isShown && !offer.isOpenable && !offer.mayOpenAtOnce)
    let notification = offer.notification(timeout: -1)
    #expect(notification.summary.string == "Data of type text/html")
    let command = "tagroute inbox export --record 2 \(offer.id.prefix(8)) FILE"
    #expect(notification.body.string == "11 B. No app opens it. To save it: \(command)")
    #expect(notification.buttons.map(\.label) == ["Dismiss"] && notification.defaultAction.label == "Dismiss")
    for action in ["default", "copy", "retry"] { #expect(offer.answer(to: action) == .dismiss) }
    #expect(offer.reason.hasSuffix("gets its type; tagroute inbox export --record 2 ID FILE saves it"))
    // An app opens it, or the tag has a text.
    let declaration = HandlerDeclaration(application: own, mimeTypes: ["text/html"])
    #expect(try self.offer([record("text/html")], [declaration]).data == nil)
    let text = try self.offer([record("text/html"), TextRecord("Good morning", language: "en").record()])
    #expect(text.data == nil && text.notification(timeout: -1).body.string == "Good morning")
    let wiFi = try self.offer([record("application/vnd.wfa.wsc")])
    #expect(wiFi.data == nil && !wiFi.isShown)
  }

  @Test(arguments: [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1499, "1 kB"), (1 << 20, "1049 kB")])
  func `the size of data is in bytes or kilobytes`(bytes: Int, size: String) {
    let record = NDEFRecord(
      typeNameFormat: .mediaType, type: Array("text/html".utf8), payload: Array(repeating: 0, count: bytes))
    let message = NDEFMessage(records: [record])
    #expect(TagData(Registry().route(for: message), message)?.size == size)
  }

  @Test func `an empty message has nothing to open`() throws {
    #expect(try offer([.empty]).ending.reason.code == .nothingToOpen)
  }

  @Test func `a text beside a record that no app takes is shown`() throws {
    let offer = try offer([record("text/vcard"), TextRecord("Good morning", language: "en").record()])
    #expect(offer.isShown && !offer.isOpenable)
    #expect(offer.text.string == "Good morning")
  }

  @Test func `a tap of an earlier run that no app takes any more has not failed`() throws {
    var policy = TapPolicy()
    let offer = try offer([record("text/vcard")])
    #expect(
      policy.handle(.resumed(offer, .shown, reason: .none)) == [
        .move(offer.id, to: .dismissed, reason: offer.ending.reason), .closeNotification(offer.id),
        .announceClosed(offer.id, .dismissed),
      ])
  }
}

struct WiFiOfferTests {
  private func offer(
    _ network: WiFiNetwork = WiFiNetwork(ssid: "Guest", passphrase: "visitors"),
    _ availability: WiFiAvailability = .available
  ) throws -> TapOffer {
    try offer(NDEFMessage(records: [WiFiRecord([network]).record()]), availability)
  }

  private func offer(_ message: NDEFMessage, _ availability: WiFiAvailability) throws -> TapOffer {
    let read = try TagRead(tapValues(1, message: try message.encoded()), now: sampleMicroseconds)
    return TapOffer(read, registry: Registry(), policy: RoutingPolicy(), languages: []).connecting(availability)
  }

  @Test func `the question names the network and never the password`() throws {
    let offer = try offer()
    #expect(offer.isShown && offer.isOpenable && offer.connects && !offer.mayOpenAtOnce && !offer.mayOpenAlways)
    let shown = offer.notification(timeout: -1)
    #expect(shown.summary.string == "Connect to Wi-Fi “Guest”?")
    #expect(shown.body.string == "The password is on the tag")
    #expect(shown.buttons.map(\.label) == ["Connect", "Connect and Save", "Dismiss"])
    #expect(offer.tap.title == "Wi-Fi network “Guest”")
    #expect(!"\(offer)".contains("visitors") && !"\(shown)".contains("visitors"))
  }

  @Test func `an open network is named as such`() throws {
    let shown = try offer(WiFiNetwork(ssid: "Café", passphrase: nil)).notification(timeout: -1)
    #expect(shown.summary.string == "Connect to Wi-Fi “Café”?")
    #expect(shown.body.string.hasPrefix("The network has no password"))
  }

  @Test func `a name cannot end its quotation or hide a part of itself`() throws {
    let shown = try offer(WiFiNetwork(ssid: "a”?\u{202E}\n<b>", passphrase: nil)).notification(
      timeout: -1)
    let name = "a\\xE2\\x80\\x9D?\\xE2\\x80\\xAE\\x0A<b>"
    #expect(shown.summary.string == "Connect to Wi-Fi “\(name.prefix(19))…”?")
    #expect(shown.body.string.hasSuffix("\n\(name)"))
  }

  @Test(arguments: [WiFiAvailability.noNetworkManager, .noDevice, .off])
  func `without Wi-Fi, the notification shows the name and says why`(availability: WiFiAvailability) throws {
    let offer = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), availability)
    #expect(offer.isShown && !offer.isOpenable && offer.copied == "Guest")
    let shown = offer.notification(timeout: -1)
    #expect(shown.summary.string == "Wi-Fi network “Guest”")
    #expect(shown.body.string == Messages.whyNoWiFi(availability) && !shown.body.isEmpty)
    #expect(shown.buttons.map(\.label) == ["Copy", "Dismiss"])
    #expect(offer.answer(to: "save") == .showAgain)
  }

  @Test func `a network with another security is shown, with the reason`() throws {
    let payload: [UInt8] = [0x10, 0x0E, 0, 11, 0x10, 0x45, 0, 1, 0x41, 0x10, 0x03, 0, 2, 0, 0x10]
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array(WiFiRecord.type.utf8), payload: payload)
    let shown = try offer(NDEFMessage(records: [record]), .available).notification(timeout: -1)
    #expect(shown.summary.string == "Wi-Fi network “A”")
    #expect(shown.body.string.hasPrefix("It needs a user name"))
    #expect(shown.buttons.map(\.label) == ["Copy", "Dismiss"])
  }

  @Test func `only the second button saves`() throws {
    let offer = try offer()
    for action in ["open", "default", "retry"] { #expect(offer.answer(to: action) == .open(offer, nil)) }
    #expect(offer.answer(to: "save") == .open(offer.opening(.savingNetwork), nil))
    #expect(offer.manner == .once)
    #expect(offer.answer(to: "copy") == .showAgain)
    #expect(offer.handOverKey != offer.opening(.savingNetwork).handOverKey)
  }

  @Test func `a click counts only while the network can be joined`() throws {
    let here = try offer()
    let gone = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), .off)
    #expect(here.confirmed(by: here, isAnswer: false, hasFailed: false) == here)
    #expect(here.confirmed(by: gone, isAnswer: false, hasFailed: false) == nil)
  }

  @Test func `a failure names the network`() throws {
    let reason = try #require(HandOverOutcome.failed(HandOverFailure(.networkPassword)).failure)
    let shown = try offer().notification(failed: reason, timeout: -1)
    #expect(shown.summary.string == "Could not connect to Wi-Fi “Guest”")
    #expect(shown.body.string.hasSuffix("The network did not accept the password on the tag"))
    #expect(shown.buttons.map(\.label) == ["Try again", "Dismiss"])
    let gone = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), .off)
    #expect(gone.notification(failed: reason, timeout: -1).body.string == "Wi-Fi is switched off")
  }
}

/// Tags without a message.
struct BareTagTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A]
  private static let random: [UInt8] = [0x08, 0xA2, 0x19, 0x5A]

  private func offer(
    uid: [UInt8] = Self.uid, shows: Bool = false, _ condition: TapRule.Condition? = nil,
    _ action: TapRule.Action = .run(["/bin/true"])
  ) throws -> TapOffer {
    let rules = condition.map { condition in
      [TapRule(name: "card", origin: .user, file: "/r.conf", line: 1, conditions: [condition], action: action)]
    }
    let read = try TagRead(tapValues(1, message: [], uid: uid, technology: "type-4a"), now: sampleMicroseconds)
    return TapOffer(
      read, registry: Registry(declarations: []), policy: RoutingPolicy(showsBareTags: shows), languages: [],
      rules: RuleSet(rules ?? []))
  }

  @Test func `without a rule it is ignored, and that is no failure`() throws {
    let offer = try offer()
    #expect(!offer.isShown && !offer.isOpenable && !offer.mayOpenAtOnce && offer.obstacle == nil)
    #expect(offer.ending.state == .dismissed && offer.ending.reason.code == .ignored)
    #expect(offer.ending.reason.detail == "the tag has no message")
    #expect(offer.tap.title == "Tag without a message")
  }

  @Test func `with BareTags=show the UID is shown and can be copied`() throws {
    let offer = try offer(shows: true)
    #expect(offer.isShown && !offer.isOpenable && offer.copied == "04A2195A")
    let notification = offer.notification(timeout: -1)
    #expect(notification.summary.string == "Tag without a message")
    #expect(notification.body.string == "04A2195A")
    #expect(notification.buttons.map(\.label) == ["Copy", "Dismiss"])
    #expect(try !self.offer(uid: [], shows: true).isShown)
  }

  @Test(arguments: [
    TapRule.Condition.uid([0x04, 0xA2, 0x19, 0x5A]), .technology("type-4a"), .reader("0"),
    .reader("/org/tagroute/Tagroute1/readers/0"),
  ])
  func `a rule can act on it`(condition: TapRule.Condition) throws {
    let run = try offer(condition)
    #expect(run.isOpenable && run.isShown && run.command?.arguments == ["/bin/true"])
    #expect(run.notification(timeout: -1).body.string == "04A2195A")
    let shown = try offer(condition, .show)
    #expect(shown.isShown && shown.text.string == "04A2195A")
    #expect(try !offer(shows: true, condition, .ignore).isShown)
    let opened = try offer(condition, .openDefault)
    #expect(!opened.isShown && opened.ending.state == .dismissed)
  }

  @Test func `conditions about a message do not hold`() throws {
    let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for condition in [
      TapRule.Condition.message(digest), .text(""), .mimeType("text/*"), .externalType("example.com:a"),
    ] {
      #expect(try !offer(condition).isOpenable, "\(condition)")
    }
    #expect(try !offer(uid: Self.random, .uid(Self.uid)).isOpenable)
  }
}
