import UniversalLinks

/// Who handles what: a value, built from declarations, that answers in time independent of their number.
public struct Registry: Sendable, Equatable {
  /// The declarations, each application once, in the order in which candidates are offered.
  public let declarations: [HandlerDeclaration]
  /// The default application of each scheme that has one.
  public let defaults: [String: Application]
  /// Why a scheme has none though one is set, as a sentence without its full stop.
  public let unusableDefaults: [String: String]
  /// Indices into `declarations`.
  let domains: DomainTable<Int32>
  /// Indices into `declarations`.
  let schemes: [String: [Int32]]
  /// How many applications have each form of ``Likeness``.
  private let namesakes: [String: Int]

  /// Builds the registry. The order of `declarations` does not matter.
  ///
  /// Where two declarations have one desktop id, the user's counts, as in the Desktop Entry Specification ("Desktop File
  /// ID"): who loads them from directories keeps one each anyway.
  ///
  /// - Parameters:
  ///   - declarations: what applications say they handle.
  ///   - defaults: the default application of each scheme that has one, by lower-case scheme.
  ///   - unusableDefaults: why a scheme is not in `defaults` though a default is set, as a sentence without its full stop.
  ///   - shownName: what a person reads as an application's name, which is what tells it from others.
  public init(
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
    for (index, declaration) in zip(Int32(0)..., ordered) {
      for pattern in Set(declaration.domains) { domains.insert(index, for: pattern) }
      for scheme in Set(declaration.schemes) where Registry.isClaimable(scheme) {
        schemes[scheme, default: []].append(index)
      }
    }
    self.declarations = ordered
    self.defaults = defaults
    self.unusableDefaults = unusableDefaults
    self.domains = domains
    self.schemes = schemes
    let others = Set(defaults.values.filter { byID[$0.desktopID] == nil })
    var namesakes: [String: Int] = [:]
    for application in ordered.lazy.map(\.application) + others {
      for form in Likeness(shownName(application)).forms { namesakes[form, default: 0] += 1 }
    }
    self.namesakes = namesakes
  }

  /// Whether another handler or default application has a name that a person would read as this one's.
  ///
  /// - Parameter shownName: what a person reads as the name of one of the registry's applications, as the registry was told.
  /// - Returns: whether there is another with that name, or with one that looks like it.
  public func hasNamesake(_ shownName: String) -> Bool {
    Likeness(shownName).forms.contains { namesakes[$0, default: 0] > 1 }
  }

  /// Whether a handler can claim `scheme` as a whole: http and https go by domain, and some are never opened.
  public static func isClaimable(_ scheme: String) -> Bool {
    scheme != "http" && scheme != "https" && !URI.forbiddenSchemes.contains(scheme)
  }

  /// Whose word counts for which handlers: the desktop ids of those that a store has installed, by domain.
  ///
  /// What is said for a wildcard stands at the domain above, as with Apple and Android.
  public var claimsOfStores: [String: Set<String>] {
    var claims: [String: Set<String>] = [:]
    for declaration in declarations where declaration.application.origin == .store {
      for pattern in declaration.usableDomains {
        claims[pattern.domain, default: []].insert(declaration.application.desktopID)
      }
    }
    return claims
  }

  func applications(_ indices: [Int32]) -> [Application] { indices.map { declarations[Int($0)].application } }

  /// The order of candidates: trusted ones first, then by id, so that an installation elsewhere changes nothing.
  private static func precedes(_ a: Application, _ b: Application) -> Bool {
    (a.origin, a.desktopID) < (b.origin, b.desktopID)
  }

  private static func masks(_ a: Application, _ b: Application) -> Bool {
    a.origin == b.origin ? a.file <= b.file : a.origin == .user
  }
}
