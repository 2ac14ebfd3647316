import Names
public import Routing

/// A rule for one tag that is not in a file yet.
public struct RuleDraft: Sendable, Hashable {
  /// The name in the header of its group.
  public var name: String
  /// The tag's UID.
  public var uid: [UInt8]
  /// The SHA-256 of the tag's message; nil if the rule also holds after the tag was rewritten.
  public var digest: String?
  /// What the tag does.
  public var action: TapRule.Action
  /// Whether the user is asked first. Without meaning for ``TapRule/Action/show`` and ``TapRule/Action/ignore``.
  public var asks: Bool
  /// The program, and its arguments, that runs when the tag is removed. Empty if none does.
  public var onRemove: [String]

  /// A rule for the tag with this UID. ``RuleWriter`` checks all parts.
  public init(
    name: String, uid: [UInt8], digest: String? = nil, action: TapRule.Action, asks: Bool = true,
    onRemove: [String] = []
  ) {
    self.name = name
    self.uid = uid
    self.digest = digest
    self.action = action
    self.asks = asks
    self.onRemove = onRemove
  }

  /// The conditions of the rule.
  var conditions: [TapRule.Condition] { [.uid(uid)] + (digest.map { [.message($0)] } ?? []) }

  /// Whether the rule says the same, under any name.
  func hasSameEffect(as rule: TapRule) -> Bool {
    rule.conditions == conditions && rule.action == action && rule.asks == asks && rule.onRemove == onRemove
  }

  /// The group in the syntax of key files, with a line break at its end.
  var text: String {
    var lines = ["[Rule \(name)]", "UID=\(UIDText.text(uid))"]
    if let digest { lines.append("Message=sha256:\(digest)") }
    switch action {
    case .open(let id): lines.append("Open=\(id)")
    case .openDefault: lines.append("Open=default")
    case .run(let arguments): lines.append("Run=\(Self.list(arguments))")
    case .show: lines.append("Show=yes")
    case .ignore: lines.append("Ignore=yes")
    }
    if !asks { lines.append("Ask=no") }
    if !onRemove.isEmpty { lines.append("OnRemove=\(Self.list(onRemove))") }
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
