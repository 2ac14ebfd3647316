package import UniversalLinks

/// The user's choices: preferred handlers, blocked handlers, and handlers that are allowed without other grounds for
/// trust.
///
/// Each choice is about a *claim*, in one spelling: `menu.example.com`, `*.example.com` (the hosts below it), `tel:` (a
/// scheme), `text/vcard`, `image/*` (media types), or `example.com:ticket` (an external type). It applies to every link
/// or record that the claim covers. The choice about the most exact claim comes first.
package struct HandlerChoices: Sendable, Hashable {
  /// The desktop entry that the user allowed, with its command. Another entry with the same id is not allowed.
  package struct Place: Sendable, Hashable {
    /// The absolute path of the desktop entry.
    package let file: String
    /// ``Application/launch``.
    package let launch: String

    package init(file: String, launch: String) {
      self.file = file
      self.launch = launch
    }

    init(_ application: Application) {
      file = application.file
      launch = application.launch
    }
  }

  package struct Permission: Sendable, Hashable {
    package var place: Place
    package var claims: Set<String>

    package init(place: Place, claims: Set<String>) {
      self.place = place
      self.claims = claims
    }
  }

  /// Used instead of a claim: all that the handler claims.
  package static let everything = "*"
  /// Claims in all three collections. Each takes memory and space in a file, and no user makes that many choices.
  package static let maximumClaims = 2000
  /// Desktop ids for a claim.
  package static let maximumPreferences = 32

  /// Desktop ids by claim, the best first.
  package var preferred: [String: [String]]
  /// By desktop id.
  package var allowed: [String: Permission]
  /// Claims by desktop id, or ``everything``.
  package var blocked: [String: Set<String>]

  package init(
    preferred: [String: [String]] = [:], allowed: [String: Permission] = [:], blocked: [String: Set<String>] = [:]
  ) {
    self.preferred = preferred
    self.allowed = allowed
    self.blocked = blocked
  }

  var isEmpty: Bool { preferred.isEmpty && allowed.isEmpty && blocked.isEmpty }

  /// The claims that cover a host in IDNA form, the most exact first: the host, then a wildcard for each domain above
  /// it.
  package static func claims(covering host: String) -> [String] {
    var result = [host]
    var rest = host[...]
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[rest.utf8.index(after: dot)...]
      result.append("*." + rest)
    }
    return result
  }

  /// Lower-case.
  package static func claim(onScheme scheme: String) -> String { scheme + ":" }

  /// Reads a claim from a person or a file: a domain, `*.` and a domain, a scheme and a colon, a media type, or an
  /// external type. Returns it in its one spelling; nil if handlers cannot make such a claim.
  package static func claim(_ text: String) -> String? {
    guard text.hasSuffix(":") else { return RecordType.claim(text) ?? (try? DomainPattern(text).description) }
    guard let scheme = try? URI(text + "x").scheme, scheme + ":" == text.lowercased(), Registry.isClaimable(scheme)
    else { return nil }
    return claim(onScheme: scheme)
  }

  /// The most exact claim comes first. The first claim with a choice about the handler decides.
  func isBlocked(_ desktopID: String, from claims: [String]) -> Bool {
    guard let blocked = blocked[desktopID] else { return false }
    for claim in claims {
      if preferred[claim]?.contains(desktopID) == true { return false }
      if blocked.contains(claim) { return true }
    }
    return blocked.contains(Self.everything)
  }

  /// For all links.
  func isBlocked(_ desktopID: String) -> Bool { blocked[desktopID]?.contains(Self.everything) ?? false }

  /// Only for exactly this desktop entry.
  func isAllowed(_ application: Application, for claims: [String]) -> Bool {
    guard let permission = allowed[application.desktopID], permission.place == Place(application) else { return false }
    return claims.contains(where: permission.claims.contains)
  }

  /// Desktop ids for a link that `claims` cover. Those of the most exact claim come first.
  func preferences(among claims: [String]) -> [String] {
    preferred.isEmpty ? [] : claims.flatMap { preferred[$0] ?? [] }
  }

  /// For each desktop id, the claims that have it as their first choice, in alphabetical order.
  package var claimsByPreferredHandler: [String: [String]] {
    var result: [String: [String]] = [:]
    for (claim, ids) in preferred.sorted(by: { $0.key < $1.key }) {
      if let id = ids.first { result[id, default: []].append(claim) }
    }
    return result
  }

  /// For exactly this desktop entry, in alphabetical order.
  package func claims(allowedTo application: Application) -> [String] {
    guard let permission = allowed[application.desktopID], permission.place == Place(application) else { return [] }
    return permission.claims.sorted()
  }
}

extension HandlerChoices {
  /// A change of the user's choices, by a click or a command.
  package enum Change: Sendable, Hashable {
    /// From now on, this handler opens the links that this claim covers, and needs no confirmation for them.
    case prefer(Application, claim: String)
    /// This handler is not offered for the links that this claim covers, or for any link if the claim is nil. Its
    /// preferences and permissions for them are removed.
    case block(desktopID: String, claim: String?)
    /// Removes all choices about this handler, this claim, or the two together. Removes all choices if both are nil.
    case forget(desktopID: String?, claim: String?)
  }

  /// Returns false, and leaves the choices unchanged, if there would be too many claims.
  package mutating func apply(_ change: Change) -> Bool {
    var next = self
    switch change {
    case .prefer(let application, let claim): next.prefer(application, claim)
    case .block(let id, let claim): next.block(id, claim)
    case .forget(let id, let claim): next.forget(id, claim)
    }
    let isLarger = next.count > count
    guard !isLarger || next.count <= HandlerChoices.maximumClaims else { return false }
    self = next
    return true
  }

  package var count: Int {
    preferred.count + allowed.values.reduce(0) { $0 + $1.claims.count }
      + blocked.values.reduce(0) { $0 + $1.count }
  }

  private mutating func prefer(_ application: Application, _ claim: String) {
    let id = application.desktopID
    preferred[claim] = [id]
    blocked[id]?.remove(claim)
    if blocked[id]?.isEmpty == true { blocked[id] = nil }
    let place = Place(application)
    if allowed[id]?.place == place {
      allowed[id]?.claims.insert(claim)
    } else {
      allowed[id] = Permission(place: place, claims: [claim])
    }
  }

  private mutating func block(_ id: String, _ claim: String?) {
    forget(id, claim)
    guard let claim else {
      blocked[id] = [HandlerChoices.everything]
      return
    }
    if blocked[id]?.contains(HandlerChoices.everything) != true { blocked[id, default: []].insert(claim) }
  }

  private mutating func forget(_ id: String?, _ claim: String?) {
    func isMeant(_ other: String) -> Bool { claim == nil || claim == other }
    for (key, ids) in preferred where isMeant(key) {
      let kept = id.map { id in ids.filter { $0 != id } } ?? []
      preferred[key] = kept.isEmpty ? nil : kept
    }
    for (other, permission) in allowed where id == nil || id == other {
      let kept = permission.claims.filter { !isMeant($0) }
      allowed[other] = kept.isEmpty ? nil : Permission(place: permission.place, claims: kept)
    }
    for (other, claims) in blocked where id == nil || id == other {
      let kept = claims.filter { !isMeant($0) }
      blocked[other] = kept.isEmpty ? nil : kept
    }
  }
}

/// The user's configuration and choices about links, and the statements of domains.
package struct RoutingPolicy: Sendable {
  package static let defaultSchemes: Set<String> = ["geo", "http", "https", "mailto", "sms", "tel"]

  /// The schemes, in lower case, of links that may open in the default application. It is offered if no handler claims
  /// the link, and as the alternative to a handler.
  package var schemes: Set<String>
  /// Whether the URI of a Smart Poster is used if a message has no URI record at its top level.
  package var smartPosters: Bool
  /// If no rule decides. No decision about a link depends on this.
  package var showsBareTags: Bool
  /// By domain. A handler is trusted with a link if the domain vouches for it.
  package var associations: [String: DomainAssociation]
  package var choices: HandlerChoices

  package init(
    schemes: Set<String> = RoutingPolicy.defaultSchemes, smartPosters: Bool = true, showsBareTags: Bool = false,
    associations: [String: DomainAssociation] = [:], choices: HandlerChoices = HandlerChoices()
  ) {
    self.schemes = schemes
    self.smartPosters = smartPosters
    self.showsBareTags = showsBareTags
    self.associations = associations
    self.choices = choices
  }
}
