import Foundation
import Testing

@testable import CommandLineTool

/// What a command prints cannot steer the terminal that it is printed on.
struct ConsoleOutputTests {
  @Test(arguments: [
    ("\u{7F}", #"\u007f"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{202E}moc", #"\u202emoc"#),
    ("\u{2028}", #"\u2028"#), ("\u{2029}", #"\u2029"#), ("\u{A0}", #"\u00a0"#), ("\u{FEFF}", #"\ufeff"#),
    ("\u{E0041}", #"\udb40\udc41"#), ("Grüße, 世界 🍽", "Grüße, 世界 🍽"), ("a\"\\\n\u{1B}", #"a\"\\\n\u001b"#),
  ])
  func `JSON shows what acts as escapes, and is the same value`(text: String, expected: String) throws {
    let encoder = JSONEncoder()
    for formatting in [[], .prettyPrinted] as [JSONEncoder.OutputFormatting] {
      encoder.outputFormatting = formatting
      let value = [text: [text]]
      let json = Console.escaped(json: String(decoding: try encoder.encode(value), as: UTF8.self))
      #expect(json.contains("[" + (formatting == [] ? "" : "\n    ") + "\"\(expected)\""))
      #expect(try JSONDecoder().decode([String: [String]].self, from: Data(json.utf8)) == value)
    }
  }
}
