public import UniversalLinks

/// An application's declaration of the links that it handles.
public struct HandlerDeclaration: Sendable, Hashable {
  /// The application.
  public let application: Application
  /// The domains from which it wants http and https links.
  public let domains: [DomainPattern]
  /// Other schemes it wants from tags, lower-case. http and https have no effect here, because web links are claimed by
  /// domain.
  public let schemes: [String]
  /// The links of its domains that it wants; nil if it wants all of them.
  public let links: AppSiteAssociation?
  /// Whether it names rules that cannot be used. It then gets no links of its domains, because a rule might have
  /// excluded them.
  public let hasUnusableLinks: Bool

  /// The schemes may be in any case.
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

  /// The domains from which it can get links.
  public var usableDomains: [DomainPattern] { hasUnusableLinks ? [] : domains }

  /// Whether a claim, in the spelling of ``HandlerChoices``, is one of the application's claims or is within one.
  public func covers(_ claim: String) -> Bool {
    if claim.hasSuffix(":") { return schemes.contains(String(claim.dropLast())) }
    let isWildcard = claim.hasPrefix("*.")
    let domain = isWildcard ? String(claim.dropFirst(2)) : claim
    return usableDomains.contains { pattern in
      pattern.description == claim || pattern.isWildcard && pattern.matches(domain)
    }
  }
}
