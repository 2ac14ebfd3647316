import Names
package import UniversalLinks

/// An installed application, as its desktop entry describes it.
package struct Application: Sendable, Hashable {
  /// This decides whether the application is trusted. Scripts read the raw values.
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

  /// For example `org.example.Menu.desktop`.
  package let desktopID: String
  /// In the user's language, neither escaped nor limited in length. Others write the file that it comes from.
  package let name: String
  /// A name or an absolute path.
  package let icon: String?
  /// The absolute path of the desktop entry.
  package let file: String
  /// Whether the application is started and called over D-Bus, under its id without `.desktop`.
  package let isDBusActivatable: Bool
  package let origin: Origin
  /// What the desktop entry starts: its `Exec`, and whether it is D-Bus activatable. Only used for comparison: the
  /// user's permission does not apply to an entry that starts something else. Empty if unknown.
  package let launch: String

  /// For people: `org.example.Menu`.
  package var id: String { AppID.text(desktopID) }

  /// The desktop id includes `.desktop`.
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

/// The links and the records that an application handles, as it declares them.
package struct HandlerDeclaration: Sendable, Hashable {
  package let application: Application
  /// For http and https links.
  package let domains: [DomainPattern]
  /// Other schemes for links from tags, lower-case. http and https have no effect here, because web links are claimed
  /// by domain.
  package let schemes: [String]
  /// The links of its domains that it handles; nil for all of them.
  package let links: AppSiteAssociation?
  /// Set if it names rules that cannot be used. It then gets no links of its domains, because a rule might have
  /// excluded them.
  package let hasUnusableLinks: Bool

  /// Each exact or `type/*`. In lower case.
  package let mimeTypes: [String]
  /// In lower case.
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

  package var types: [String] { mimeTypes + externalTypes }

  /// Empty if its rules cannot be used.
  package var usableDomains: [DomainPattern] { hasUnusableLinks ? [] : domains }

  /// The claim is in the spelling of ``HandlerChoices``. It is one of the application's claims or is within one.
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
