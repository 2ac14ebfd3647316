package import UniversalLinks

/// An application's declaration of the links and the records that it handles.
package struct HandlerDeclaration: Sendable, Hashable {
  /// The application.
  package let application: Application
  /// The domains from which it wants http and https links.
  package let domains: [DomainPattern]
  /// Other schemes it wants from tags, lower-case. http and https have no effect here, because web links are claimed by
  /// domain.
  package let schemes: [String]
  /// The links of its domains that it wants; nil if it wants all of them.
  package let links: AppSiteAssociation?
  /// Whether it names rules that cannot be used. It then gets no links of its domains, because a rule might have
  /// excluded them.
  package let hasUnusableLinks: Bool

  /// The media types of records that it wants, each exact or `type/*`. In lower case.
  package let mimeTypes: [String]
  /// The external types of records that it wants. In lower case.
  package let externalTypes: [String]

  /// The schemes may be in any case. Malformed types are left out.
  package init(
    application: Application, domains: [DomainPattern] = [], schemes: [String] = [], links: AppSiteAssociation? = nil,
    hasUnusableLinks: Bool = false, mimeTypes: [String] = [], externalTypes: [String] = []
  ) {
    self.application = application
    self.domains = domains
    self.schemes = schemes.map { $0.lowercased() }
    self.links = links
    self.hasUnusableLinks = hasUnusableLinks
    self.mimeTypes = mimeTypes.compactMap(RecordType.mediaClaim)
    self.externalTypes = externalTypes.compactMap(RecordType.externalClaim)
  }

  /// The claims to record types.
  package var types: [String] { mimeTypes + externalTypes }

  /// The domains from which it can get links.
  package var usableDomains: [DomainPattern] { hasUnusableLinks ? [] : domains }

  /// Whether a claim, in the spelling of ``HandlerChoices``, is one of the application's claims or is within one.
  package func covers(_ claim: String) -> Bool {
    if claim.hasSuffix(":") { return schemes.contains(String(claim.dropLast())) }
    if RecordType.claim(claim) != nil {
      return types.contains(claim) || RecordType.claims(covering: claim).contains(where: types.contains)
    }
    let isWildcard = claim.hasPrefix("*.")
    let domain = isWildcard ? String(claim.dropFirst(2)) : claim
    return usableDomains.contains { pattern in
      pattern.description == claim || pattern.isWildcard && pattern.matches(domain)
    }
  }
}
