import Foundation
import NDEF
import Rig
import Testing

@testable import CommandLineTool

/// Records as `read`, `inbox show` and `inbox export` print them.
@Suite struct HostileRecordTests {
  private func printed(_ report: RecordReport) throws -> (line: String, json: String) {
    (Console.printable(report.line), try Console(json: true).text(report, onOneLine: true))
  }

  private func expectHarmless(_ records: [NDEFRecord], _ comment: Comment) throws {
    for record in records {
      let report = RecordReport(record)
      let (line, json) = try printed(report)
      #expect(HostileText.unsafe(in: line).isEmpty && !line.contains("\n"), comment)
      #expect(HostileText.unsafe(in: json).isEmpty, comment)
      #expect(json.hasSuffix("}\n") && json.split(separator: "\n").count == 1, comment)
      #expect(line.utf8.count < 30_000, comment)
      let value = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any], comment)
      #expect(value["text"] as? String == report.text && value["uri"] as? String == report.uri, comment)
    }
  }

  @Test func `hostile text in a record is escaped`() throws {
    for sample in HostileText.samples {
      let comment = Comment(rawValue: sample.name)
      let bytes = Array(sample.text.utf8)
      try expectHarmless(
        [
          URIRecord(sample.text).record(), try TextRecord(sample.text, language: "en").record(),
          try TextRecord(sample.text, language: "en", encoding: .utf16).record(),
          try SmartPosterRecord(uri: sample.text, titles: [TextRecord(sample.text, language: "e\u{1B}")]).record(),
          NDEFRecord(typeNameFormat: .mediaType, type: bytes, id: bytes, payload: bytes),
          NDEFRecord(typeNameFormat: .external, type: bytes, payload: bytes),
        ], comment)
      #expect(HostileText.unsafe(in: Console.printable(sample.text)).isEmpty, comment)
    }
    let list = Array(repeating: RecordReport(NDEFRecord(typeNameFormat: .empty)), count: 5000)
    #expect(RecordReport.lines(list).count == 101)
    #expect(RecordReport.lines(list).last == "and 4900 more records")
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func `records of random bytes are escaped`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let formats: [TypeNameFormat] = [.empty, .wellKnown, .mediaType, .absoluteURI, .external, .unknown]
    func bytes(_ most: Int) -> [UInt8] {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    for _ in 0..<300 {
      let type: [UInt8] = [[0x54], [0x55], [0x53, 0x70], bytes(12)].randomElement(using: &random) ?? []
      let head: [UInt8] = [[], [0], [2, 0x65, 0x6E], [0x82, 0x65, 0x6E]].randomElement(using: &random) ?? []
      let record = NDEFRecord(
        typeNameFormat: formats.randomElement(using: &random) ?? .unknown, type: type, id: bytes(8),
        payload: head + bytes(80))
      try expectHarmless([record], "seed \(seed): \(record)")
    }
  }
}
