import UniversalLinks

/// What the user has chosen: who is preferred, who is allowed although nobody vouches for it, and who is never offered.
///
/// Each is about a *claim*, in one spelling: `menu.example.com`, `*.example.com` (what is below it), or `tel:` (a scheme). A
/// choice about a claim counts for every link that the claim covers; the most exact one that there is counts first.
public struct HandlerChoices: Sendable, Hashable {
  /// Which desktop entry was allowed, and what it starts. Another one of the same id is not allowed by that.
  public struct Place: Sendable, Hashable {
    /// The absolute path of the desktop entry.
    public let file: String
    /// ``Application/launch``.
    public let launch: String

    /// - Parameters:
    ///   - file: the absolute path of the desktop entry.
    ///   - launch: what it starts.
    public init(file: String, launch: String) {
      self.file = file
      self.launch = launch
    }

    init(_ application: Application) {
      file = application.file
      launch = application.launch
    }
  }

  /// What a handler is allowed.
  public struct Permission: Sendable, Hashable {
    /// Whose permission it is.
    public var place: Place
    /// The claims.
    public var claims: Set<String>

    /// - Parameters:
    ///   - place: whose permission it is.
    ///   - claims: the claims.
    public init(place: Place, claims: Set<String>) {
      self.place = place
      self.claims = claims
    }
  }

  /// In the place of a claim: all that the handler claims.
  public static let everything = "*"
  /// The most claims in all three together; nobody decides as often, and each is in memory and in a file.
  public static let maximumClaims = 2000
  /// The most desktop ids that are preferred for a claim.
  public static let maximumPreferences = 32

  /// The desktop ids preferred for a claim, the best first.
  public var preferred: [String: [String]]
  /// By desktop id.
  public var allowed: [String: Permission]
  /// Claims by desktop id, or ``everything``.
  public var blocked: [String: Set<String>]

  /// - Parameters:
  ///   - preferred: the desktop ids preferred for a claim, the best first.
  ///   - allowed: by desktop id.
  ///   - blocked: claims by desktop id, or ``everything``.
  public init(
    preferred: [String: [String]] = [:], allowed: [String: Permission] = [:], blocked: [String: Set<String>] = [:]
  ) {
    self.preferred = preferred
    self.allowed = allowed
    self.blocked = blocked
  }

  /// Whether nothing was chosen.
  var isEmpty: Bool { preferred.isEmpty && allowed.isEmpty && blocked.isEmpty }

  /// The claims that cover a host, the most exact first.
  ///
  /// - Parameter host: a domain name in IDNA form.
  /// - Returns: the host, and a wildcard for each domain above it.
  public static func claims(covering host: String) -> [String] {
    var result = [host]
    var rest = host[...]
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[rest.utf8.index(after: dot)...]
      result.append("*." + rest)
    }
    return result
  }

  /// The claim on a whole scheme, lower-case.
  public static func claim(onScheme scheme: String) -> String { scheme + ":" }

  /// Reads a claim as a person or a file gives it.
  ///
  /// - Parameter text: a domain, `*.` and a domain, or a scheme and a colon.
  /// - Returns: the claim in its one spelling; nil where it is none that a handler can make.
  public static func claim(_ text: String) -> String? {
    guard text.hasSuffix(":") else { return try? DomainPattern(text).description }
    guard let scheme = try? URI(text + "x").scheme, scheme + ":" == text.lowercased(), Registry.isClaimable(scheme)
    else { return nil }
    return claim(onScheme: scheme)
  }

  /// Whether a handler is kept from a link that `claims` cover, the most exact first: what was chosen for the more exact claim
  /// counts.
  func isBlocked(_ desktopID: String, from claims: [String]) -> Bool {
    guard let blocked = blocked[desktopID] else { return false }
    for claim in claims {
      if preferred[claim]?.contains(desktopID) == true { return false }
      if blocked.contains(claim) { return true }
    }
    return blocked.contains(Self.everything)
  }

  /// Whether exactly this desktop entry was allowed to open links that one of `claims` covers.
  func isAllowed(_ application: Application, for claims: [String]) -> Bool {
    guard let permission = allowed[application.desktopID], permission.place == Place(application) else { return false }
    return claims.contains(where: permission.claims.contains)
  }

  /// The desktop ids preferred for a link that `claims` cover, the most exact claim's first.
  func preferences(among claims: [String]) -> [String] {
    preferred.isEmpty ? [] : claims.flatMap { preferred[$0] ?? [] }
  }

  /// The claims for which each desktop id is the first choice, in their order.
  public var claimsByPreferredHandler: [String: [String]] {
    var result: [String: [String]] = [:]
    for (claim, ids) in preferred.sorted(by: { $0.key < $1.key }) {
      if let id = ids.first { result[id, default: []].append(claim) }
    }
    return result
  }

  /// What exactly this desktop entry was allowed, in order.
  public func claims(allowedTo application: Application) -> [String] {
    guard let permission = allowed[application.desktopID], permission.place == Place(application) else { return [] }
    return permission.claims.sorted()
  }
}
