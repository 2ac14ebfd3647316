import Foundation
import NDEF
import Names
import TestRig
import Testing
@testable import AgentTests

/// The titles in `tagroute inbox` of tags with neither a link nor a text.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TapTitleTests {
  private struct Case: Sendable, CustomTestStringConvertible {
    let records: [NDEFRecord]
    let title: String
    var testDescription: String { title }

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
    Case(record: .wellKnown("Hs", payload: [0x15]), title: "Data of an unknown kind"),
    Case(record: .wellKnown("T", payload: [2, 0x65, 0x6E]), title: "Empty message"),
    Case([.wellKnown("T", payload: [2, 0x65, 0x6E]), media("text/vcard")], title: "Contact card"),
    Case(record: .wellKnown("T", payload: []), title: "Data of an unknown kind"),
    // These links were not refused.
    Case(record: .wellKnown("Sp", payload: [0xFF]), title: "Link that is not opened"),
    Case(
      record: NDEFRecord(typeNameFormat: .absoluteURI, type: Array("https://a.example/".utf8)),
      title: "Link that is not opened"),
    Case(
      NDEFMessage.uri("javascript:alert(1)").records + [.wellKnown("Hs", payload: [0x15])],
      title: "This link may not be opened"),
    Case(
      [.wellKnown("T", payload: [2, 0x65, 0x6E])] + NDEFMessage.uri("javascript:alert(1)").records,
      title: "This link may not be opened"),
  ]

  private static func give(_ rig: AgentRig, _ number: Int, _ records: [NDEFRecord]) async throws {
    try await rig.daemon.give(tapValues(number, message: try NDEFMessage(records: records).encoded()))
  }

  @Test func `each kind of content has a fixed title`() async throws {
    let rig = try await AgentRig.withAgent()
    let monitor = try await rig.installation.start("tagroute", ["monitor"])
    let script = try await rig.installation.start("tagroute", ["monitor", "--json"])
    // Each process prints its first line after it has begun to listen.
    for process in [monitor, script] { try await process.line(containing: "") }
    for (number, each) in Self.cases.enumerated() { try await Self.give(rig, number + 1, each.records) }
    let empty = NDEFRecord(typeNameFormat: .empty)
    try await Self.give(rig, 90, [empty, Self.media("text/vcard")])
    try await rig.tap("javascript:alert(1)", 91)
    let list = try #require(try await rig.json("inbox") as? [[String: Any]])
    let titles = list.reversed().map { $0["title"] as? String ?? "" }
    #expect(titles == Self.cases.map(\.title) + ["Contact card", "This link may not be opened"])
    let lines = try await rig.tagroute("inbox", "--limit", "2").output
    #expect(lines.contains("  dismissed  -  Contact card\n"), "\(lines)")
    #expect(try await rig.tagroute("inbox", "show", tapID(2)).output.hasPrefix("\(tapID(2)): Contact card\n"))
    try await monitor.line(containing: "tap \(tapID(2)): dismissed; Contact card; ")
    let ends = try await script.line(containing: tapID(2))
    #expect(ends.contains(#""title":"Contact card""#), "\(ends)")
    for process in [monitor, script] { try await process.exit(after: 15) }
  }

  @Test(arguments: [("de", "Visitenkarte"), ("ja", "連絡先"), ("ko", "연락처")])
  func `the title is in the user's language`(language: String, title: String) async throws {
    let rig = try await AgentRig(
      environment: ["LC_ALL": "C.UTF-8", "LANGUAGE": language],
      starter: "`the title is in the user's language`_\(language)")
    try await Catalogues.build(in: rig.catalogues)
    try await rig.startAgent()
    try await Self.give(rig, 1, [Self.media("text/vcard")])
    let list = try #require(try await rig.json("inbox") as? [[String: Any]])
    #expect(list.map { $0["title"] as? String } == [title])
  }
}
