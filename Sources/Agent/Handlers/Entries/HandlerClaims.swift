import Names
import Routing
import Settings
import UniversalLinks

/// The claims of a desktop entry: those in our own group, and those in the drafts that other desktops discuss.
struct HandlerClaims {
  private(set) var domains: [DomainPattern] = []
  private(set) var schemes: [String] = []
  /// `MimeTypes=`: exact media types, and `type/*`.
  private(set) var mimeTypes: [String] = []
  /// `ExternalTypes=`.
  private(set) var externalTypes: [String] = []
  /// `Links=` or `LinksInline=`: the path rules, not read yet.
  private(set) var links: LinkRules?
  /// The entry does not say clearly which path rules it means.
  private(set) var hasUnusableLinks = false
  private(set) var problems: [HandlerProblem] = []

  /// More domains, schemes and types than any application has. Further claims are ignored.
  static let maximumClaims = 10_000
  /// Further problems are counted, not named.
  static let maximumProblems = 20
  private var leftOut = 0

  /// Every entry with a claim contains one of these, so files without them need not be parsed.
  static let markers = [Names.Handler.interface, Names.Handler.uriHandlerGroup, HandlerClaims.hostType]
  private static let hostType = "x-url-handler/"
  /// The claim that snapd keeps, for a message to an author.
  static let hostClaim = "MimeType=\(hostType)DOMAIN;"

  /// An invalid claim is skipped and named in `problems`.
  init(_ keyFile: KeyFile) throws(HandlerProblem) {
    try readOwnGroup(keyFile)
    try readDrafts(keyFile)
    if leftOut > 0 {
      problems.append(HandlerProblem(file: keyFile.file, message: "\(leftOut) more claims are wrong as well"))
    }
    if count == 0, problems.isEmpty {
      problems.append(keyFile.problem("Implements", "it claims no domain, no scheme and no type"))
    }
  }

  private mutating func readOwnGroup(_ keyFile: KeyFile) throws(HandlerProblem) {
    let group = Names.Handler.interface
    let implements = try keyFile.list("Implements").contains(group)
    guard keyFile.group(group) != nil else {
      if implements {
        problems.append(
          keyFile.problem("Implements", "the group [\(group)] with Domains=, Schemes= or MimeTypes= is missing"))
      }
      return
    }
    guard implements else {
      problems.append(keyFile.problem("Domains", in: group, "[\(DesktopEntry.group)] lacks Implements=\(group);"))
      return
    }
    for key in ["Domains", "Schemes", "MimeTypes", "ExternalTypes"] {
      let singular = String(key.dropLast())
      guard keyFile.entry(group, singular) != nil else { continue }
      problems.append(keyFile.problem(singular, in: group, "\(singular)= is not a key; did you mean \(key)=?"))
    }
    for domain in try claims(keyFile, "Domains", group) { claim(domain, keyFile, "Domains", group) }
    for scheme in try claims(keyFile, "Schemes", group) { claim(scheme: scheme, keyFile, group) }
    for type in try claims(keyFile, "MimeTypes", group) {
      claim(type: type, RecordType.mediaClaim(type), keyFile, "MimeTypes", "a media type or type/*", to: \.mimeTypes)
    }
    for type in try claims(keyFile, "ExternalTypes", group) {
      claim(
        type: type, RecordType.externalClaim(type), keyFile, "ExternalTypes",
        "an external type, such as example.com:ticket", to: \.externalTypes)
    }
    // Flatpak writes an Exec= into each group, and other tools may write more. So unknown keys are no mistake here.
    do throws(HandlerProblem) {
      links = try LinkRules(keyFile, in: group)
    } catch {
      hasUnusableLinks = true
      problems.append(error)
    }
  }

  /// `[org.freedesktop.UriHandler] Supports=` (flatpak/xdg-desktop-portal#1313) and Sailfish's `x-url-handler/<host>`.
  private mutating func readDrafts(_ keyFile: KeyFile) throws(HandlerProblem) {
    let group = Names.Handler.uriHandlerGroup
    if keyFile.entry(group, "Patterns") != nil {
      problems.append(keyFile.problem("Patterns", in: group, "Patterns= is not supported; the group is left out"))
    } else {
      for domain in try claims(keyFile, "Supports", group) { claim(domain, keyFile, "Supports", group) }
    }
    for type in try claims(keyFile, "MimeType", DesktopEntry.group) where type.hasPrefix(Self.hostType) {
      claim(String(type.dropFirst(Self.hostType.count)), keyFile, "MimeType", DesktopEntry.group)
    }
  }

  /// Up to the limit of claims for the entry.
  private mutating func claims(_ keyFile: KeyFile, _ key: String, _ group: String) throws(HandlerProblem) -> ArraySlice<
    String
  > {
    let list = try keyFile.list(key, in: group)
    let room = Self.maximumClaims - count
    guard list.count > room else { return list[...] }
    problems.append(
      keyFile.problem(
        key, in: group,
        "it claims more than \(Self.maximumClaims) domains, schemes and types; the rest is left out: "
          + "claim *. and a domain"))
    return list.prefix(room)
  }

  /// Whether to name the problem of one more claim. Finding its line takes time, so ask before looking for it.
  private mutating func isNamed() -> Bool {
    if problems.count < Self.maximumProblems { return true }
    leftOut += 1
    return false
  }

  private mutating func claim(_ domain: String, _ keyFile: KeyFile, _ key: String, _ group: String) {
    do {
      domains.append(try DomainPattern(domain))
    } catch {
      guard isNamed() else { return }
      let remedy = Self.host(of: domain).map { "write only the host name: \($0)" } ?? "\(error)"
      problems.append(
        keyFile.problem(key, in: group, "\(shortened(domain)) is not a domain or *. and a domain: \(remedy)"))
    }
  }

  /// Of a claim with a scheme, a port or a path; nil if it has no such host.
  private static func host(of claim: String) -> DomainPattern? {
    let rest = claim.firstRange(of: "://").map { claim[$0.upperBound...] } ?? claim[...]
    return try? DomainPattern(String(rest.prefix { $0 != "/" && $0 != ":" }))
  }

  private mutating func claim(scheme: String, _ keyFile: KeyFile, _ group: String) {
    let scheme = scheme.lowercased()
    guard (try? URI(scheme + ":")) != nil || scheme == "http" || scheme == "https" else {
      if isNamed() { problems.append(keyFile.problem("Schemes", in: group, "\(shortened(scheme)) cannot be claimed")) }
      return
    }
    guard Registry.isClaimable(scheme) else {
      if isNamed() {
        problems.append(keyFile.problem("Schemes", in: group, "\(scheme) links go by domain: use Domains="))
      }
      return
    }
    schemes.append(scheme)
  }

  /// `claim` is the type in its one spelling; nil if it is malformed.
  private mutating func claim(
    type: String, _ claim: String?, _ keyFile: KeyFile, _ key: String, _ what: String,
    to types: WritableKeyPath<HandlerClaims, [String]>
  ) {
    if let claim { return self[keyPath: types].append(claim) }
    guard isNamed() else { return }
    problems.append(keyFile.problem(key, in: Names.Handler.interface, "\(shortened(type)) is not \(what)"))
  }

  var count: Int { domains.count + schemes.count + mimeTypes.count + externalTypes.count }

  private func shortened(_ text: String) -> String {
    text.unicodeScalars.count > 60 ? String(text.unicodeScalars.prefix(59)) + "…" : text
  }
}
