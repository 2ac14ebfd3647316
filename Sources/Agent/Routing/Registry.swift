import UniversalLinks

/// Knows which applications handle which links: a value, built from declarations, with look-ups independent of their
/// number.
package struct Registry: Sendable, Equatable {
  /// The declarations, each application once, in the order in which candidates are offered.
  package let declarations: [HandlerDeclaration]
  /// The default application of each scheme that has one.
  package let defaults: [String: Application]
  /// Why a scheme has no default application although one is set, as a sentence without its full stop.
  package let unusableDefaults: [String: String]
  /// Indices into `declarations` by domain.
  let domains: DomainTable<Int32>
  /// Indices into `declarations` by scheme.
  let schemes: [String: [Int32]]
  /// Indices into `declarations` by the claim to a record type.
  let types: [String: [Int32]]
  /// What the desktop says about the default applications of media types, in lower case. Only those that a decision
  /// needs are looked up.
  package var typeDefaults: [String: TypeDefault] = [:]
  /// How many applications have each form of ``Likeness``.
  private let namesakes: [String: Int]

  /// Builds the registry. The order of `declarations` does not matter.
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
