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
    let reading = try TagReading(
      tapValues(1, message: try NDEFMessage(records: records).encoded()), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: policy, languages: [])
  }

  @Test func `a contact card is offered to the default application, without its contents`() throws {
    let offer = try offer([record("text/vcard")], contactsOpen: ["text/vcard"])
    #expect(offer.isOpenable && offer.isShown && !offer.handsOverMessage && offer.uri == nil)
    let notification = offer.notification(timeout: -1, canCopy: true)
    #expect(notification.summary.string == "Open in Contacts")
    #expect(notification.body.string == "Contact card")
    #expect(notification.buttons.map(\.label) == ["Open", "Always open this tag at once", "Dismiss"])
    #expect(offer.confirmed(by: offer, isAnswer: false, hasFailed: false) == offer)
  }

  @Test func `a handler that is not trusted needs permission for the type`() throws {
    let declaration = HandlerDeclaration(application: own, mimeTypes: ["text/vcard"])
    let offer = try offer([record("text/vcard")], [declaration], contactsOpen: ["text/vcard"])
    #expect(offer.question == .whetherAllowed && offer.handsOverMessage)
    let notification = offer.notification(timeout: -1, canCopy: true)
    #expect(notification.summary.string == "Tags with text/vcard: allow “Own” to open them?")
    #expect(notification.buttons.map(\.label) == ["Allow and Open", "Open in Contacts", "Dismiss"])
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
    for canCopy in [true, false] {
      let notification = offer.notification(timeout: -1, canCopy: canCopy)
      #expect(notification.summary.string == "Data of type text/html")
      let command = "tagroute inbox export --record 2 \(offer.id.prefix(8)) FILE"
      #expect(notification.body.string == "11 B. No app opens it. To save it: \(command)")
      #expect(notification.buttons.map(\.label) == ["Dismiss"] && notification.defaultAction.label == "Dismiss")
      for action in ["default", "copy", "retry"] {
        #expect(offer.answer(to: action, canCopy: canCopy) == .dismiss)
      }
    }
    #expect(offer.reason.hasSuffix("gets its type; tagroute inbox export --record 2 ID FILE saves it"))
    // An app opens it, or the tag has a text.
    let declaration = HandlerDeclaration(application: own, mimeTypes: ["text/html"])
    #expect(try self.offer([record("text/html")], [declaration]).data == nil)
    let text = try self.offer([record("text/html"), TextRecord("Good morning", language: "en").record()])
    #expect(text.data == nil && text.notification(timeout: -1, canCopy: true).body.string == "Good morning")
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
