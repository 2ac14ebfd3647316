import FoundationEssentials
import Rig

/// A tag, the rules and the settings, and what has to happen. Each line of the files in `Decisions` is a row, as JSON.
struct DecisionRow: Decodable, Sendable, CustomStringConvertible {
  /// Why the row is there, if the rest does not say so.
  let note: String?
  /// `uid=04A2195A`, `tech=type-2`, `reader=PATH`, and the records in their order: `uri=…`, `poster=…` (the link of a
  /// Smart Poster), `text=…`, `text16=…` (in UTF-16), `mime=TYPE`, `ext=TYPE`, `absolute=URI`, `empty`, and
  /// `raw=FORMAT,TYPE,PAYLOAD` with the number of the type name format and a payload in hexadecimal digits.
  let tag: [String]
  /// `NAME | KEY=VALUE | …`, with `!` before the name if the rule is the administrator's, and `FILE.conf: ` before that
  /// if the name of the file matters.
  let rules: [String]?
  /// `block ID`, `block ID CLAIM`, `prefer ID CLAIM`, `smart-posters off`, and `handler ID TYPE` for one more handler.
  let settings: [String]?
  /// How many mistakes the rules have; nil for none.
  let mistakes: Int?
  /// The decision, as `Route.outcome` writes it.
  let expected: String
  /// What the explanation has to say in one of its steps.
  let because: String

  var description: String { "\(note ?? "") \(tag) \(rules ?? []) \(settings ?? [])" }

  /// The bytes of all that the decision depends on. Swift treats some texts of different bytes as equal.
  var question: [[UInt8]] { [tag, rules ?? [], settings ?? []].map { Array($0.joined(separator: "\n").utf8) } }
}

extension DecisionRow {
  /// The files, by their subject.
  static let files = [
    "actions", "bare-tags", "combined-messages", "link-handlers", "links", "other-conditions", "patterns", "precedence",
    "records", "refused-links", "rule-types", "several-conditions", "uids", "wi-fi",
  ]

  /// The folder of the files.
  static var folder: String { #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/Decisions" }

  static func load(_ file: String) throws -> [DecisionRow] {
    let decoder = JSONDecoder()
    return try readFile("\(folder)/\(file).jsonl").split(separator: UInt8(ascii: "\n")).map {
      try decoder.decode(DecisionRow.self, from: Data($0))
    }
  }
}

/// A row that cannot be read.
struct DecisionRowError: Error {
  let text: String
}
