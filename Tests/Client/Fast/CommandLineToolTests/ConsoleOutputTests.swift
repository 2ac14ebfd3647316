import Foundation
import NDEF
import Records
import Rig
import Testing

@testable import CommandLineTool

/// Printed text cannot control the terminal.
struct ConsoleOutputTests {
  @Test(arguments: [
    ("\u{7F}", #"\u007f"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{202E}moc", #"\u202emoc"#),
    ("\u{2028}", #"\u2028"#), ("\u{2029}", #"\u2029"#), ("\u{A0}", #"\u00a0"#), ("\u{FEFF}", #"\ufeff"#),
    ("\u{E0041}", #"\udb40\udc41"#), ("Grüße, 世界 🍽", "Grüße, 世界 🍽"), ("a\"\\\n\u{1B}", #"a\"\\\n\u001b"#),
  ])
  func `JSON escapes control characters and keeps the value`(text: String, expected: String) throws {
    let encoder = JSONEncoder()
    for formatting in [[], .prettyPrinted] as [JSONEncoder.OutputFormatting] {
      encoder.outputFormatting = formatting
      let value = [text: [text]]
      let json = Console.escaped(json: String(decoding: try encoder.encode(value), as: UTF8.self))
      #expect(json.contains("[" + (formatting == [] ? "" : "\n    ") + "\"\(expected)\""))
      #expect(try JSONDecoder().decode([String: [String]].self, from: Data(json.utf8)) == value)
    }
  }

  @Test(arguments: [
    ("Grüße, 世界 🍽 e\u{301}", "Grüße, 世界 🍽 e\u{301}"), ("हिन्दी ที่ ❤️ 1\u{FE0F}\u{20E3}", "हिन्दी ที่ ❤️ 1\u{FE0F}\u{20E3}"),
    (
      "a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}b\u{301}",
      #"a\#u{301}\#u{302}\#u{303}\#u{304}\u{305}\u{306}b\#u{301}"#
    ),
    ("\u{301}a", #"\u{301}a"#), ("a \u{20DD}\u{301}b", #"a \u{20dd}\u{301}b"#), ("(\u{336})", #"(\u{336})"#),
    ("“\u{336}”", #"“\u{336}”"#), ("\"\u{336}", #""\u{336}"#), ("\u{1B}\u{336}", #"\u{1b}\u{336}"#),
    ("a" + String(repeating: "\u{FE0F}", count: 6), "a\u{FE0F}\u{FE0F}\u{FE0F}\u{FE0F}" + #"\u{fe0f}\u{fe0f}"#),
  ])
  func `a letter keeps at most four combining marks, and other marks are escaped`(text: String, printed: String) {
    #expect(Console.printable(text).unicodeScalars.elementsEqual(printed.unicodeScalars))
    #expect(HostileText.unsafe(in: Console.printable(text)).isEmpty)
  }

  @Test func `JSON limits the combining marks on a letter and keeps the value`() throws {
    for text in ["\u{301}a", "a\u{301}\u{302}\u{303}\u{304}\u{305}", "a (\u{336}"] {
      let json = Console.escaped(json: String(decoding: try JSONEncoder().encode([text]), as: UTF8.self))
      #expect(HostileText.unsafe(in: json).isEmpty, "\(json)")
      #expect(
        try JSONDecoder().decode([String].self, from: Data(json.utf8)).first?.unicodeScalars.elementsEqual(
          text.unicodeScalars) == true)
    }
  }
}

@Suite struct ColourTests {
  @Test(arguments: [
    (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": ""], true), (["TERM": "xterm", "NO_COLOR": "0"], false),
    (["TERM": "dumb"], false), (["TERM": ""], false), ([:], false),
  ])
  func `only a terminal shows colours, and the user can switch them off`(environment: [String: String], isShown: Bool) {
    #expect(Colour.isShown(isTerminal: true, environment) == isShown)
    #expect(!Colour.isShown(isTerminal: false, environment))
  }

  @Test(arguments: [
    ("scanning", "\u{1B}[32mscanning\u{1B}[m"), ("not scanning: off", "\u{1B}[31mnot scanning\u{1B}[m: off"),
    ("a.conf:12: not a key", "\u{1B}[31ma.conf:12\u{1B}[m: not a key"), ("0: reader", "0: reader"), ("", ""),
  ])
  func `the longest verdict at the beginning of a line gets a colour`(line: String, painted: String) {
    let verdicts: [(String, Colour)] = [
      ("scanning", .green), ("not scanning", .red), ("a.conf:1", .green), ("a.conf:12", .red),
    ]
    #expect(Colour.painted(line, verdicts) == painted)
    #expect(Colour.painted(line, []) == line)
  }
}

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
      var network = WiFiNetwork(ssid: "?", passphrase: nil)
      if !bytes.isEmpty { network.ssid = Array(bytes.prefix(32)) }
      try expectHarmless(
        [
          URIRecord(sample.text).record(), try TextRecord(sample.text, language: "en").record(),
          try TextRecord(sample.text, language: "en", encoding: .utf16).record(),
          try SmartPosterRecord(uri: sample.text, titles: [TextRecord(sample.text, language: "e\u{1B}")]).record(),
          NDEFRecord(typeNameFormat: .mediaType, type: bytes, id: bytes, payload: bytes),
          NDEFRecord(typeNameFormat: .external, type: bytes, payload: bytes),
          try .media("text/vcard", payload: Array("BEGIN:VCARD\nFN:\(sample.text)\nTEL:\(sample.text)".utf8)),
          try .external("android.com:pkg", payload: bytes),
          try WiFiRecord([network]).record(),
          URIRecord("geo:1,2?q=\(sample.text)").record(),
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
