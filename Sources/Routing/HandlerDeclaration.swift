public import UniversalLinks

/// What an application says it handles.
public struct HandlerDeclaration: Sendable, Hashable {
  /// The application.
  public let application: Application
  /// The domains whose http and https links it wants.
  public let domains: [DomainPattern]
  /// Other schemes it wants from tags, lower-case. http and https here mean nothing: those go by domain.
  public let schemes: [String]
  /// Which links of its domains it wants; nil where it wants all of them.
  public let links: AppSiteAssociation?
  /// Whether it names rules that cannot be used: it gets no links of its domains, because a rule might have excluded them.
  public let hasUnusableLinks: Bool

  /// - Parameters:
  ///   - application: the application.
  ///   - domains: the domains whose http and https links it wants.
  ///   - schemes: other schemes it wants from tags, in any case.
  ///   - links: which links of its domains it wants; nil where it wants all of them.
  ///   - hasUnusableLinks: whether it names rules that cannot be used.
  public init(
    application: Application, domains: [DomainPattern] = [], schemes: [String] = [], links: AppSiteAssociation? = nil,
    hasUnusableLinks: Bool = false
  ) {
    self.application = application
    self.domains = domains
    self.schemes = schemes.map { $0.lowercased() }
    self.links = links
    self.hasUnusableLinks = hasUnusableLinks
  }

  /// The domains of which it can get a link.
  public var usableDomains: [DomainPattern] { hasUnusableLinks ? [] : domains }

  /// Whether a claim, as ``HandlerChoices`` spells it, is one of the application's or within one.
  public func covers(_ claim: String) -> Bool {
    if claim.hasSuffix(":") { return schemes.contains(String(claim.dropLast())) }
    let isWildcard = claim.hasPrefix("*.")
    let domain = isWildcard ? String(claim.dropFirst(2)) : claim
    return usableDomains.contains { pattern in
      pattern.description == claim || pattern.isWildcard && pattern.matches(domain)
    }
  }
}
