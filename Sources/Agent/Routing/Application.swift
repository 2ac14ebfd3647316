package import UniversalLinks

/// An installed application, as its desktop entry describes it.
package struct Application: Sendable, Hashable {
  /// Who can write the desktop entry, which decides whether the application is trusted. Scripts read the raw values.
  package enum Origin: String, Sendable, Hashable, Comparable, CaseIterable {
    /// Only root can change it. A person with the right to install programs put it there.
    case system
    /// Only root can change it, and a store's tool (Flatpak, Snap) wrote it. The tool makes sure that the desktop id is
    /// the app's own. The other contents come from the app's author, and no administrator of this system has checked
    /// them.
    case store
    /// Any program of the user can write it, under any desktop id.
    case user

    /// The most trusted origin comes first.
    package static func < (a: Origin, b: Origin) -> Bool { a.rank < b.rank }

    private var rank: Int {
      switch self {
      case .system: 0
      case .store: 1
      case .user: 2
      }
    }
  }

  /// The desktop file id, for example `org.example.Menu.desktop`.
  package let desktopID: String
  /// The name in the user's language, neither escaped nor limited in length. Others write the file that it comes from.
  package let name: String
  /// The icon's name or absolute path.
  package let icon: String?
  /// The absolute path of the desktop entry.
  package let file: String
  /// Whether the application is started and called over D-Bus, under its id without `.desktop`.
  package let isDBusActivatable: Bool
  /// Who can write the desktop entry.
  package let origin: Origin
  /// What the desktop entry starts: its `Exec`, and whether it is D-Bus activatable. Only used for comparison: the
  /// user's permission does not apply to an entry that starts something else. Empty if unknown.
  package let launch: String

  /// The description of an application. The desktop id includes `.desktop`.
  package init(
    desktopID: String, name: String, icon: String? = nil, file: String, isDBusActivatable: Bool = false, origin: Origin,
    launch: String = ""
  ) {
    self.desktopID = desktopID
    self.name = name
    self.icon = icon
    self.file = file
    self.isDBusActivatable = isDBusActivatable
    self.origin = origin
    self.launch = launch
  }
}

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
