package import Routing

/// A rule that is not in a file yet.
package struct RuleDraft: Sendable, Hashable {
  /// The name in the header of its group.
  package var name: String
  /// The conditions: UIDs, messages, media types and handlers only, whose values need no escapes.
  package var conditions: [TapRule.Condition]
  /// What the tag does.
  package var action: TapRule.Action
  /// Whether the user is asked first. Without meaning for ``TapRule/Action/show`` and ``TapRule/Action/ignore``.
  package var asks: Bool
  /// The program, and its arguments, that runs when the tag is removed. Empty if none does.
  package var onRemove: [String]
  /// The name of its sound; nil for the usual one.
  package var sound: String?

  /// A rule with these conditions. ``RuleWriter`` checks all parts.
  package init(
    name: String, conditions: [TapRule.Condition], action: TapRule.Action, asks: Bool = true, onRemove: [String] = [],
    sound: String? = nil
  ) {
    self.name = name
    self.conditions = conditions
    self.action = action
    self.asks = asks
    self.onRemove = onRemove
    self.sound = sound
  }

  /// Whether the rule says the same, under any name.
  func hasSameEffect(as rule: TapRule) -> Bool {
    rule.conditions == conditions && rule.action == action && rule.asks == asks && rule.onRemove == onRemove
      && rule.sound == sound
  }

  /// The group in the syntax of key files, with a line break at its end.
  var text: String {
    var lines = ["[Rule \(name)]"] + conditions.map { "\($0.key)=\($0.value)" }
    switch action {
    case .open(let id): lines.append("Open=\(id)")
    case .openDefault: lines.append("Open=default")
    case .run(let arguments): lines.append("Run=\(Self.list(arguments))")
    case .show: lines.append("Show=yes")
    case .ignore: lines.append("Ignore=yes")
    }
    if !asks { lines.append("Ask=no") }
    if !onRemove.isEmpty { lines.append("OnRemove=\(Self.list(onRemove))") }
    if let sound { lines.append("Sound=\(sound)") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// A list with the escapes of key files (Desktop Entry Specification 1.5, "Possible value types").
  private static func list(_ texts: [String]) -> String { texts.map { escaped($0) + ";" }.joined() }

  private static func escaped(_ text: String) -> String {
    var result = ""
    // Scalars, because a combining mark forms another character with a semicolon.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += #"\\"#
      case ";": result += #"\;"#
      case "\n": result += #"\n"#
      case "\r": result += #"\r"#
      case "\t": result += #"\t"#
      case " ": result += #"\s"#
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
