import KeyFile
import Names
import Routing
import UniversalLinks

/// The claims of a desktop entry: those in our own group, and those in the drafts that other desktops discuss.
struct HandlerClaims {
  private(set) var domains: [DomainPattern] = []
  private(set) var schemes: [String] = []
  /// `Links=`: the file of path rules, as written in the entry.
  private(set) var links: String?
  private(set) var problems: [HandlerProblem] = []

  /// More domains and schemes than any application has. Further claims are ignored.
  static let maximumClaims = 10_000
  /// Further problems are counted, not named.
  static let maximumProblems = 20
  private var leftOut = 0

  /// Every entry with a claim contains one of these, so files without them need not be parsed.
  static let markers = [Names.Handler.interface, Names.Handler.uriHandlerGroup, HandlerClaims.hostType]
  private static let hostType = "x-url-handler/"

  /// Reads the claims. An invalid claim is skipped and named in `problems`.
  init(_ keyFile: KeyFile) throws(HandlerProblem) {
    try readOwnGroup(keyFile)
    try readDrafts(keyFile)
    if leftOut > 0 {
      problems.append(HandlerProblem(file: keyFile.file, message: "\(leftOut) more claims are wrong as well"))
    }
    if domains.isEmpty, schemes.isEmpty, problems.isEmpty {
      problems.append(keyFile.problem("Implements", "it claims no domain and no scheme"))
    }
  }

  private mutating func readOwnGroup(_ keyFile: KeyFile) throws(HandlerProblem) {
    let group = Names.Handler.interface
    let implements = try keyFile.list("Implements").contains(group)
    guard keyFile.group(group) != nil else {
      if implements {
        problems.append(keyFile.problem("Implements", "the group [\(group)] with Domains= or Schemes= is missing"))
      }
      return
    }
    guard implements else {
      problems.append(keyFile.problem("Domains", in: group, "[\(DesktopEntry.group)] lacks Implements=\(group);"))
      return
    }
    for domain in try claims(keyFile, "Domains", group) { claim(domain, keyFile, "Domains", group) }
    for scheme in try claims(keyFile, "Schemes", group) { claim(scheme: scheme, keyFile, group) }
    links = try keyFile.text("Links", in: group).flatMap { $0.isEmpty ? nil : $0 }
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

  /// The elements of a list, up to the limit of claims for the entry.
  private mutating func claims(_ keyFile: KeyFile, _ key: String, _ group: String) throws(HandlerProblem) -> ArraySlice<
    String
  > {
    let list = try keyFile.list(key, in: group)
    let room = Self.maximumClaims - domains.count - schemes.count
    guard list.count > room else { return list[...] }
    problems.append(
      keyFile.problem(
        key, in: group,
        "it claims more than \(Self.maximumClaims) domains and schemes; the rest is left out: claim *. and a domain"))
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
      problems.append(
        keyFile.problem(key, in: group, "\(shortened(domain)) is not a domain or *. and a domain: \(error)"))
    }
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

  private func shortened(_ text: String) -> String {
    text.unicodeScalars.count > 60 ? String(text.unicodeScalars.prefix(59)) + "…" : text
  }
}
