import Names
import Routing
package import Settings
import UniversalLinks

/// A rule in words, for a list.
package struct RuleDescription: Sendable, Hashable, Codable {
  package let name: String
  /// `user` or `system`.
  package let origin: String
  package let file: String
  /// Of its header.
  package let line: Int
  /// For scripts: a UID has hyphens, and an app its `.desktop`.
  package let conditions: [String]
  /// The conditions for people, as in a file.
  package private(set) var words: [String] = []
  /// `open`, `open-default`, `run`, `show` or `ignore`.
  package let action: String
  /// The app that it opens, or the program and its arguments. Empty for other actions.
  package let arguments: [String]
  /// Before the action.
  package let asks: Bool
  /// The program and its arguments that runs when the tag is removed. Empty if none does.
  package let onRemove: [String]
  /// Empty for the usual sound.
  package let sound: String

  private enum CodingKeys: CodingKey {
    case name, origin, file, line, conditions, action, arguments, asks, onRemove, sound
  }

  init(_ rule: TapRule) {
    name = rule.name
    origin = rule.origin.rawValue
    file = rule.file
    line = rule.line
    conditions = rule.conditions.map { "\($0.key)=\($0.scriptValue)" }
    words = rule.conditions.map { "\($0.key)=\($0.value)" }
    action = rule.action.kind
    arguments =
      switch rule.action {
      case .open(let id): [id]
      case .run(let arguments): arguments
      case .openDefault, .show, .ignore: []
      }
    asks = rule.asks
    onRemove = rule.onRemove
    sound = rule.sound ?? ""
  }
}

extension RuleFiles.Content {
  /// In the order in which the rules are tried.
  package var descriptions: [RuleDescription] { RuleSet(rules).rules.map(RuleDescription.init) }
}

extension TapRule.Condition {
  /// For people, and in a file.
  var value: String {
    switch self {
    case .uid(let uid): UIDText.text(uid)
    case .link(let link): link.text
    case .message(let digest): "sha256:\(digest)"
    case .handler(let id): AppID.text(id)
    case .mimeType(let text), .externalType(let text), .text(let text), .technology(let text), .reader(let text): text
    }
  }

  fileprivate var scriptValue: String {
    switch self {
    case .uid(let uid): UIDText.dashed(uid)
    case .handler(let id): id
    default: value
    }
  }
}

extension RuleFiles {
  /// Blocks on files. Returns the path of the changed file; nil if the user has no rule with this name.
  ///
  /// Throws if it is the administrator's, if several rules have the name, or if the file cannot be changed. A file that
  /// is a link is not changed.
  package func remove(_ name: String) throws(KeyFileError) -> String? {
    let named = read().rules.filter { $0.name == name }
    guard let rule = named.first else { return nil }
    guard rule.origin == .user else {
      throw KeyFileError(
        file: rule.file, line: rule.line, problem: "the rule is the administrator's", remedy: "change the file as root")
    }
    let others = named.filter { $0.origin == .user }
    guard others.count == 1 else {
      throw KeyFileError(
        file: rule.file, line: rule.line, problem: "there are \(others.count) rules with this name",
        remedy: "change the files: \(others.map(\.file).joined(separator: ", "))")
    }
    let name = rule.file.split(separator: "/").last.map(String.init) ?? rule.file
    guard try RuleWriter(self, file: name).remove(rule) else {
      throw KeyFileError(
        file: rule.file, line: rule.line, problem: "the rule has just been changed", remedy: "try again")
    }
    return rule.file
  }
}
