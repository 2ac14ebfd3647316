import Handlers
import Inbox
import NDEF
import Routing
import Testing

@testable import Agent

struct FailureWordsTests {
  private static let reasons =
    HandOverFailure.Code.allCases.map { HandOverOutcome.failed(HandOverFailure($0, hostile)).failure }
    + HandOverDoubt.Code.allCases.map { HandOverOutcome.unknown(HandOverDoubt($0, hostile)).failure }
    + [TapReason(.endedWhileOpening), TapReason(.noAnswer, detail: hostile), TapReason(.none, detail: hostile)]
  private static let hostile = "”\u{202E}\n<b>\u{1B}[31m“" + String(repeating: "word ", count: 2000)

  @Test(arguments: reasons.compactMap(\.self))
  func `each failure has a text of limited length, in which foreign text is quoted and harmless`(reason: TapReason) {
    let words = Messages.whyFailed(reason, program: Self.hostile)
    #expect(words.count > 15 && words.count < 200, "\(words)")
    #expect(words.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\u{202E}" })
    #expect(!words.contains("{") && !words.hasSuffix("."))
    // Apart from a program's name, foreign text is only inside our quotation marks.
    if words.contains("<b>"), reason.handOverFailure?.code != .notCopied, reason.handOverDoubt?.code != .outOfSight {
      #expect(words.filter { $0 == "“" }.count == 1 && words.filter { $0 == "”" }.count == 1 && words.hasSuffix("”"))
      #expect(words.firstIndex(of: "“").map { words[..<$0].contains("<b>") } == false)
    }
  }

  @Test func `a missing program whose name is unknown is not quoted`() {
    let missing = HandOverOutcome.failed(HandOverFailure(.commandMissing, "")).failure
    #expect(missing.map { Messages.whyFailed($0) } == "The program is missing or cannot be executed")
  }

  @Test func `an app without an error message is not quoted`() {
    let silent = HandOverOutcome.failed(HandOverFailure(.handlerFailed, "“”")).failure
    #expect(silent.map { Messages.whyFailed($0) } == "The app did not take it")
    #expect(Messages.whyFailed(.none) == "")
  }
}

/// The titles in `tagroute inbox` of tags with neither a link nor a text.
struct TapTitleTests {
  private struct Case: Sendable {
    let records: [NDEFRecord]
    let title: String

    init(record: NDEFRecord, title: String) { self.init([record], title: title) }

    init(_ records: [NDEFRecord], title: String) {
      self.records = records
      self.title = title
    }
  }

  private static func media(_ type: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .mediaType, type: Array(type.utf8), payload: [1])
  }

  private static let cases = [
    Case(record: NDEFRecord(typeNameFormat: .empty), title: "Empty message"),
    Case(record: media("text/vcard"), title: "Contact card"),
    Case(record: media("text/X-vCard; charset=utf-8"), title: "Contact card"),
    Case(record: media("text/calendar"), title: "Calendar entry"),
    Case(record: media("application/vnd.wfa.wsc"), title: "Wi-Fi settings"),
    Case(record: media("application/vnd.bluetooth.ep.oob"), title: "Bluetooth pairing"),
    Case(record: media("image/png"), title: "Data of type image/png"),
    // Foreign text is limited and has no control characters.
    Case(
      record: media("a/\u{1B}[2Jb\u{202E}" + String(repeating: "x", count: 200)),
      title: "Data of type a/ [2Jb" + String(repeating: "x", count: 52) + "…"),
    Case(
      record: NDEFRecord(typeNameFormat: .external, type: Array("example.com:a".utf8), payload: [1]),
      title: "Data of type example.com:a"),
    Case(record: NDEFRecord(typeNameFormat: .unknown, payload: [1]), title: "Data of an unknown kind"),
    // Connection Handover records, as on the tags of loudspeakers and routers.
    Case([.wellKnown("Hs", payload: [0x15]), media("application/vnd.bluetooth.ep.oob")], title: "Bluetooth pairing"),
    Case([.wellKnown("Hr", payload: [0x15]), media("application/vnd.wfa.wsc")], title: "Wi-Fi settings"),
    Case([NDEFRecord(typeNameFormat: .empty), media("text/vcard")], title: "Contact card"),
    Case(record: .wellKnown("Hs", payload: [0x15]), title: "Data of an unknown kind"),
    Case(record: .wellKnown("T", payload: [2, 0x65, 0x6E]), title: "Empty message"),
    Case([.wellKnown("T", payload: [2, 0x65, 0x6E]), media("text/vcard")], title: "Contact card"),
    Case(record: .wellKnown("T", payload: []), title: "Data of an unknown kind"),
    // These links were not refused.
    Case(record: .wellKnown("Sp", payload: [0xFF]), title: "Link that is not opened"),
    Case(
      record: NDEFRecord(typeNameFormat: .absoluteURI, type: Array("windows.com/LaunchApp".utf8)),
      title: "Link that is not opened"),
    Case(NDEFMessage.uri("javascript:alert(1)").records, title: "This link may not be opened"),
    Case(
      NDEFMessage.uri("javascript:alert(1)").records + [.wellKnown("Hs", payload: [0x15])],
      title: "This link may not be opened"),
    Case(
      [.wellKnown("T", payload: [2, 0x65, 0x6E])] + NDEFMessage.uri("javascript:alert(1)").records,
      title: "This link may not be opened"),
  ]

  @Test func `each kind of content has a fixed title`() throws {
    let registry = Registry(declarations: [])
    for each in Self.cases {
      let message = try NDEFMessage(records: each.records).encoded()
      let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
      let offer = TapOffer(read, registry: registry, policy: RoutingPolicy(), languages: [])
      #expect(offer.tap.title == each.title)
    }
  }
}
