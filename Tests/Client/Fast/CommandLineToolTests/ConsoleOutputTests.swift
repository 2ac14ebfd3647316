import Foundation
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
