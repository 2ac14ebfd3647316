package import NDEF
package import UniversalLinks

/// The rules in force, in the order in which they are tried: the user's, then the administrator's.
package struct RuleSet: Sendable, Hashable {
  package let rules: [TapRule]
  /// Those that rules name, by desktop id.
  package var applications: [String: NamedApplication] = [:]
  /// Other names of the reader of the tap, besides its object path and its number.
  package var readerNames: [String] = []

  /// Further rules are reported and ignored.
  package static let maximumRules = 1000
  /// For all patterns of one tap. A thousand patterns that are slow on purpose take more; with such a set no rule
  /// decides.
  package static let maximumSteps = 1 << 24

  /// An installed application that a rule names. It need not be a handler.
  package struct NamedApplication: Sendable, Hashable {
    let application: Application
    package let takesLinks: Bool
    package let takesFiles: Bool

    package init(_ application: Application, takesLinks: Bool, takesFiles: Bool) {
      (self.application, self.takesLinks, self.takesFiles) = (application, takesLinks, takesFiles)
    }
  }

  /// By origin. Rules of one origin keep their order.
  package init(_ rules: [TapRule] = []) {
    self.rules = rules.filter { $0.origin == .user } + rules.filter { $0.origin == .system }
  }

  /// Whether a rule examines the message's SHA-256, so that it has to be computed.
  package var needsDigest: Bool {
    rules.contains { rule in
      rule.conditions.contains { if case .message = $0 { true } else { false } }
    }
  }

  /// Whether a rule has the name or the device of a reader, so that ``readerNames`` are needed.
  package var needsReaderNames: Bool {
    rules.contains { rule in
      rule.conditions.contains {
        if case .reader(let text) = $0 { Int(text) == nil && !text.hasPrefix("/") } else { false }
      }
    }
  }

  /// The first rule that matches, and the steps to it.
  package struct Decision: Sendable, Hashable {
    /// Nil if none matches.
    package let rule: TapRule?
    /// One step for each rule that was tried. Empty if the caller did not ask for them.
    package let steps: [Route.Step]
  }

  /// Finds the first rule that matches a tap. The link and the handler are those that decide without rules; nil if there
  /// are none.
  ///
  /// If the patterns take too many steps, no rule decides: a rule that was not tried might be the one that ignores the
  /// tag.
  package func decision(
    for read: TagRead, digest: String = "", link: URI?, handler: String? = nil, explaining: Bool = true,
    maximumSteps: Int = RuleSet.maximumSteps
  ) -> Decision {
    var steps: [Route.Step] = []
    var matching = link.map { LinkMatching($0, maximumSteps: maximumSteps) }
    let subject = Subject(read, digest, handler, readerNames)
    for rule in rules {
      switch subject.trial(of: rule, &matching) {
      case .matches:
        if explaining { steps.append(Route.Step("rule", "\(rule.place) matches")) }
        return Decision(rule: rule, steps: steps)
      case .differs(let condition):
        if explaining { steps.append(Route.Step("rule", "\(rule.place) does not match: \(condition.key)= differs")) }
      case .undecided:
        if explaining {
          steps.append(Route.Step("rule", "\(rule.place) takes too many steps to try, so no rule decides"))
        }
        return Decision(rule: nil, steps: steps)
      }
    }
    if explaining && !rules.isEmpty { steps.append(Route.Step("rule", "no rule matches")) }
    return Decision(rule: nil, steps: steps)
  }
}

/// The facts of a tap in the form that conditions are compared with. It is made once for all rules.
private struct Subject {
  enum Trial {
    case matches
    case differs(TapRule.Condition)
    case undecided
  }

  let read: TagRead
  /// The SHA-256 of the message's bytes in lower-case hexadecimal digits; empty if it is unknown.
  let digest: String
  let mimeTypes: Set<String>
  let externalTypes: Set<String>
  /// UTF-8, because Swift treats texts of different bytes as equal.
  let texts: Set<[UInt8]>
  let readerNames: [String]
  let handler: String?

  init(_ read: TagRead, _ digest: String, _ handler: String?, _ readerNames: [String]) {
    self.read = read
    self.digest = digest
    self.handler = handler
    let types = read.mimeTypes
    // A condition holds for the types that a handler with the same claim gets.
    mimeTypes = Set(types + types.filter { $0.contains("/") }.flatMap { RecordType.media($0).claims })
    externalTypes = Set(read.externalTypes)
    texts = Set(read.texts.map { Array($0.utf8) })
    self.readerNames = [read.reader, String(read.reader.split(separator: "/").last ?? "")] + readerNames
  }

  /// Tries the conditions in their order. Patterns come last, because they take longest.
  func trial(of rule: TapRule, _ matching: inout LinkMatching?) -> Trial {
    var links: [(TapRule.Condition, LinkCondition)] = []
    for condition in rule.conditions {
      let holds: Bool
      switch condition {
      case .uid(let uid): holds = uid == read.uid
      case .mimeType(let type): holds = mimeTypes.contains(type)
      case .externalType(let type): holds = externalTypes.contains(type)
      case .text(let text): holds = texts.contains(Array(text.utf8))
      case .message(let expected): holds = !digest.isEmpty && expected == digest
      case .technology(let technology): holds = technology == read.technology
      case .reader(let reader): holds = readerNames.contains(reader)
      case .handler(let id): holds = id == handler
      case .link(let link):
        links.append((condition, link))
        continue
      }
      guard holds else { return .differs(condition) }
    }
    for (condition, link) in links {
      guard matching != nil else { return .differs(condition) }
      switch matching?.covers(link) {
      case true?: break
      case false?: return .differs(condition)
      case nil: return .undecided
      }
    }
    return .matches
  }
}
