import UniversalLinks

/// Knows which applications handle which links: a value, built from declarations, with look-ups independent of their
/// number.
package struct Registry: Sendable, Equatable {
  /// Each application once, in the order in which candidates are offered.
  package let declarations: [HandlerDeclaration]
  /// By scheme.
  package let defaults: [String: Application]
  /// Why a scheme has no default application although one is set, as a sentence without its full stop.
  package let unusableDefaults: [String: String]
  /// Indices into `declarations`.
  let domains: DomainTable<Int32>
  /// Indices into `declarations`.
  let schemes: [String: [Int32]]
  /// Indices into `declarations` by the claim to a record type.
  let types: [String: [Int32]]
  /// By media type in lower case. Only those that a decision needs are looked up.
  package var typeDefaults: [String: TypeDefault] = [:]
  /// How many applications have each form of ``Likeness``.
  private let namesakes: [String: Int]

  /// The order of `declarations` does not matter.
  ///
  /// If two declarations have the same desktop id, the user's entry is used, as in the Desktop Entry Specification
  /// ("Desktop File ID"). Callers that load declarations from directories already keep only one of them.
  ///
  /// The schemes of the defaults are lower-case. `shownName` is the name of an application as displayed to people.
  package init(
    declarations: [HandlerDeclaration] = [], defaults: [String: Application] = [:],
    unusableDefaults: [String: String] = [:], shownName: (Application) -> String = { $0.name }
  ) {
    var byID: [String: HandlerDeclaration] = [:]
    for declaration in declarations {
      let id = declaration.application.desktopID
      if let other = byID[id], Registry.masks(other.application, declaration.application) { continue }
      byID[id] = declaration
    }
    let ordered = byID.values.sorted { Registry.precedes($0.application, $1.application) }
    var domains = DomainTable<Int32>()
    var schemes: [String: [Int32]] = [:]
    var types: [String: [Int32]] = [:]
    for (index, declaration) in zip(Int32(0)..., ordered) {
      for pattern in Set(declaration.domains) { domains.insert(index, for: pattern) }
      for scheme in Set(declaration.schemes) where Registry.isClaimable(scheme) {
        schemes[scheme, default: []].append(index)
      }
      for type in Set(declaration.types) { types[type, default: []].append(index) }
    }
    self.declarations = ordered
    self.defaults = defaults
    self.unusableDefaults = unusableDefaults
    self.domains = domains
    self.schemes = schemes
    self.types = types
    let others = Set(defaults.values.filter { byID[$0.desktopID] == nil })
    var namesakes: [String: Int] = [:]
    for application in ordered.lazy.map(\.application) + others {
      for form in Likeness(shownName(application)).forms { namesakes[form, default: 0] += 1 }
    }
    self.namesakes = namesakes
  }

  /// Whether another handler or default application has the displayed name of one of the registry's applications, or a
  /// name that looks like it.
  package func hasNamesake(_ shownName: String) -> Bool {
    Likeness(shownName).forms.contains { namesakes[$0, default: 0] > 1 }
  }

  /// Whether a handler can claim `scheme` as a whole. http and https are claimed by domain, and forbidden schemes are
  /// never opened.
  package static func isClaimable(_ scheme: String) -> Bool {
    scheme != "http" && scheme != "https" && !URI.forbiddenSchemes.contains(scheme)
  }

  /// The desktop ids of the handlers that a store has installed, by the domain that can vouch for them.
  ///
  /// For a wildcard it is the domain above that vouches, as with Apple and Android.
  package var claimsOfStores: [String: Set<String>] {
    var claims: [String: Set<String>] = [:]
    for declaration in declarations where declaration.application.origin == .store {
      for pattern in declaration.usableDomains {
        claims[pattern.domain, default: []].insert(declaration.application.desktopID)
      }
    }
    return claims
  }

  func applications(_ indices: [Int32]) -> [Application] { indices.map { declarations[Int($0)].application } }

  /// The order of candidates: trusted ones first, then by id. The order of two does not depend on other applications.
  private static func precedes(_ a: Application, _ b: Application) -> Bool {
    (a.origin, a.desktopID) < (b.origin, b.desktopID)
  }

  private static func masks(_ a: Application, _ b: Application) -> Bool {
    a.origin == b.origin ? a.file <= b.file : a.origin == .user
  }
}

extension Registry {
  /// The applications, by claim, that claim the domain of a link, unless their rules exclude the link.
  ///
  /// The matches begin with the most exact claim. `trials` has the steps that are left for the applications. `steps`
  /// receives the excluded applications, at most as many as are ever shown.
  func willing(
    among matches: [(pattern: String, values: [Int32])], _ trials: inout RuleTrials, _ steps: inout Explanation
  ) -> [(claim: String, applications: [Application])] {
    var willing: [(claim: String, applications: [Application])] = []
    var unwilling: [Candidate] = []
    var count = 0
    for (pattern, values) in matches {
      var applications: [Application] = []
      for declaration in values.lazy.map({ declarations[Int($0)] }) {
        guard let (outcome, rule) = declaration.obstacle(&trials) else {
          applications.append(declaration.application)
          continue
        }
        count += 1
        guard unwilling.count < HandlerSelection.maximumLosers else { continue }
        let candidate = Candidate(
          declaration.application, claim: pattern, outcome: outcome, trust: .unconfirmed, rule: rule)
        unwilling.append(candidate)
        if count <= Self.mostNamed { steps.add("links", candidate.sentence) }
      }
      if !applications.isEmpty { willing.append((pattern, applications)) }
    }
    if count > Self.mostNamed {
      steps.add("links", "\(count - Self.mostNamed) more do not take it, by their path rules")
    }
    steps.lose(unwilling, leftOut: count - unwilling.count)
    return willing
  }

  /// How many candidates or losers the steps name one by one.
  static let mostNamed = 8
}

extension HandlerDeclaration {
  /// Nil if its rules admit the link, or if it has no rules.
  fileprivate func obstacle(_ trials: inout RuleTrials) -> (Candidate.Outcome, rule: String?)? {
    if hasUnusableLinks { return (.unusableLinks, nil) }
    guard let links else { return nil }
    let id = application.desktopID
    let verdict = trials.match(for: application) { matching in
      matching.verdict(of: links) { AppSiteAssociation.appID($0, means: id) }
    }
    switch verdict {
    case .matched: return nil
    case .excluded(let rule): return (.excluded, rule.location)
    case .unmatched, .unnamed: return (.notCovered, nil)
    case .undecided: return (.undecided, nil)
    }
  }
}

/// The budget of steps for trying rules on one link. Each origin has a separate budget, and so do the handlers that the
/// user has chosen. A more exact claim with slow rules therefore takes no steps from trusted or preferred applications.
struct RuleTrials {
  private enum Share: Hashable {
    case chosen
    case of(Application.Origin)
  }

  private let uri: URI
  private let choices: HandlerChoices
  private let covering: [String]
  private let preferred: Set<String>
  private var trials: [Share: LinkMatching] = [:]

  /// `covering` has every claim that could cover the link, the most exact first, and is only evaluated if the user has
  /// made choices.
  init(_ uri: URI, covering: @autoclosure () -> [String], choices: HandlerChoices) {
    self.uri = uri
    self.choices = choices
    self.covering = choices.isEmpty ? [] : covering()
    preferred = Set(choices.preferences(among: self.covering))
  }

  /// With the budget of the application.
  mutating func match<Verdict>(for application: Application, _ body: (inout LinkMatching) -> Verdict) -> Verdict {
    body(&trials[share(of: application), default: LinkMatching(uri)])
  }

  /// Chosen handlers share a separate budget: their rules may take long, but not at the expense of other applications.
  private func share(of application: Application) -> Share {
    preferred.contains(application.desktopID) || choices.isAllowed(application, for: covering)
      ? .chosen : .of(application.origin)
  }
}

/// The part of a displayed name that distinguishes it on a screen: its letters and digits, in lower case. If it has no
/// letters or digits, the whole name.
struct Likeness {
  /// The part with the marks on its letters, in any Unicode normal form, and without them if it has any. Two names are
  /// alike if they share a form.
  let forms: [String]

  /// As displayed, cut to the visible part.
  init(_ shown: String) {
    var (whole, bare) = (String.UnicodeScalarView(), String.UnicodeScalarView())
    for scalar in shown.unicodeScalars {
      let properties = scalar.properties
      guard !properties.isDefaultIgnorableCodePoint else { continue }
      let isMark = [.nonspacingMark, .spacingMark, .enclosingMark].contains(properties.generalCategory)
      guard isMark || properties.isAlphabetic || properties.numericType != nil else { continue }
      let letters = properties.lowercaseMapping.unicodeScalars
      whole.append(contentsOf: letters)
      if !isMark { bare.append(contentsOf: letters) }
    }
    guard !bare.isEmpty else {
      forms = [shown]
      return
    }
    forms = bare.count == whole.count ? [String(bare)] : [String(whole), String(bare)]
  }
}
