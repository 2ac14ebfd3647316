import EventLoop
import Glibc
import Names
package import Routing
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

  /// What is no mistake, and keeps a rule from acting: a program or an app that is not installed, or an earlier rule. Blocks on
  /// files.
  package func warnings(environment: [String: String] = ProcessEnvironment.current) -> [KeyFileError] {
    let tried = RuleSet(rules).rules
    return tried.enumerated().flatMap { index, rule in
      let first = tried[..<index].first { $0.covers(rule.conditions) }
      let hidden = first.map {
        KeyFileError(
          file: rule.file, line: rule.line, problem: "the rule “\(rule.name)” never acts: \(Self.precedence(of: $0))",
          remedy: "move it above that rule, or remove one of them")
      }
      return [hidden].compactMap(\.self) + HandlerCheck.missing(for: rule, environment: environment)
    }
  }

  /// The rule that would take each tag of a rule with these conditions, if ``RuleFiles/add(_:before:)`` wrote that one
  /// before `next`, or last. Nil if the new rule would act.
  package func rule(hiding conditions: [TapRule.Condition], before next: TapRule? = nil) -> TapRule? {
    let file = next?.fileName ?? RuleWriter.added
    return rules.first { rule in
      let isEarlier = rule.fileName < file || rule.fileName == file && rule.line < next?.line ?? .max
      return rule.origin == .user && isEarlier && rule.covers(conditions)
    }
  }

  static func precedence(of rule: TapRule) -> String {
    "the rule \(rule.place) is tried first and takes each tag that this rule is for"
  }
}

extension TapRule {
  fileprivate var fileName: String { file.split(separator: "/").last.map(String.init) ?? file }
}

extension TapRule.Condition {
  /// For people, and in a file.
  package var value: String {
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
  /// Writes a rule at the end of `added.conf`, or before the rule with this name, in its file. Blocks on files.
  ///
  /// Throws as ``RuleWriter`` does, if there is no single rule of the user with that name, and if the new rule would never
  /// act because an earlier one covers it.
  package func add(_ draft: RuleDraft, before name: String? = nil) throws(KeyFileError) -> TapRule {
    let next = try name.map { name throws(KeyFileError) in
      guard let next = try rule(name) else {
        throw KeyFileError(
          file: user ?? system, line: nil, problem: "there is no rule \(name), or it has an error",
          remedy: "run tagroute rules, and tagroute rules --check")
      }
      return next
    }
    if let first = read().rule(hiding: draft.conditions, before: next) {
      throw KeyFileError(
        file: first.file, line: first.line, problem: Content.precedence(of: first),
        remedy: "add --before \(ShellWord.quoted(first.name)), or remove that rule")
    }
    return try RuleWriter(self, file: next?.fileName ?? RuleWriter.added).add(draft, before: next)
  }

  /// Blocks on files. Returns the path of the changed file; nil if the user has no rule with this name.
  ///
  /// Throws if it is the administrator's, if several rules have the name, or if the file cannot be changed. A file that
  /// is a link is not changed.
  package func remove(_ name: String) throws(KeyFileError) -> String? {
    guard let rule = try rule(name) else { return nil }
    guard try RuleWriter(self, file: rule.fileName).remove(rule) else {
      throw KeyFileError(
        file: rule.file, line: rule.line, problem: "the rule has just been changed", remedy: "try again")
    }
    return rule.file
  }

  /// The only rule of the user with this name; nil if there is none. Throws if it is the administrator's, or if several
  /// have the name.
  private func rule(_ name: String) throws(KeyFileError) -> TapRule? {
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
    return rule
  }
}
