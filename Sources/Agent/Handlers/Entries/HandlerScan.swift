import EventLoop
import Glibc
import Names
import Routing
import Settings
import UniversalLinks

/// One walk through the directories of desktop entries. It collects the claims, the problems, and the paths to watch.
struct HandlerScan: Sendable {
  private(set) var declarations: [HandlerDeclaration] = []
  private(set) var problems: [HandlerProblem] = []
  /// With their subdirectories.
  private(set) var directories: [String] = []
  /// The files of path rules that entries name, as absolute paths, at most `maximumDirectories` of them.
  private(set) var linkFiles: Set<String> = []

  /// These bounds apply to each data directory, so that entries of the user's programs leave room for the system's.
  /// Beyond a bound, the rest of that data directory is neither read nor watched.
  static let maximumEntries = 50_000
  /// Names of any kind. Each that is not a desktop entry may be a directory, and has to be checked.
  static let maximumNames = 100_000
  static let maximumDirectories = 1_000
  /// The total size of all desktop entries, in bytes. A desktop with a thousand apps has a fifth of it.
  static let maximumSize = 64 << 20
  /// The total size of the entries with claims, in bytes. They are parsed, and a megabyte of domains takes a fraction
  /// of a second.
  static let maximumClaimSize = 8 << 20
  /// The claims of all entries of one origin; this many were measured to be fast and small. Further entries are
  /// ignored.
  static let maximumClaims = 100_000
  /// The cost of all path rules of one origin, the same as for a single file. The patterns take about 20 MB.
  static let maximumLinkCost = 1 << 18
  /// The total size of those rules, in bytes. Reading them takes a fraction of a second.
  static let maximumLinkSize = 4 << 20
  private static let maximumDepth = 8

  /// The part of the limits that the entries of one origin have used.
  private struct Spent {
    var claims = 0
    var linkCost = 0
    var linkSize = 0
  }

  private struct Tree {
    let path: String
    /// After links are resolved.
    private let root: String
    /// The directories read in this data directory. They are not shared: each data directory is read, even if another
    /// one links to it.
    var visited: Set<Files.Identity> = []
    var (names, entries, size, claimSize) = (0, 0, 0, 0)
    /// As a message.
    private(set) var excess: String?
    var isTooDeep = false

    init(_ path: String) {
      self.path = path
      root = Files.resolved(path)
    }

    /// Whether a directory is below this one after links are resolved. A link elsewhere, such as to `/`, could make the
    /// walk endless.
    func contains(_ directory: String) -> Bool {
      let resolved = Files.resolved(directory)
      return resolved == root || resolved.hasPrefix(root + "/")
    }

    /// Whether `amount` is within the bound, and no bound was exceeded before.
    mutating func allows(_ amount: Int, atMost maximum: Int, _ what: String) -> Bool {
      if amount > maximum, excess == nil { excess = "there are more than \(what); the rest is left out" }
      return excess == nil
    }
  }

  private let languages: [String]
  private let environment: [String: String]
  private let places: DataDirectories
  private let ownership: FileOwnership
  private var seen: Set<String> = []
  /// Whether the last entry is hidden, or the program of its `TryExec` is not installed. Such an entry is skipped
  /// without a problem.
  private var isLeftOut = false
  private var spent: [Application.Origin: Spent] = [:]
  private var tree = Tree("")
  /// Of the last entry that has any.
  private var lastLinks: LinkRules?

  /// Reads every directory, or only those that no user but root can change. Blocks on files.
  ///
  /// The environment contains the user's languages, and `PATH` for `TryExec`.
  init(
    _ directories: DataDirectories, environment: [String: String], ownership: FileOwnership = .real,
    onlySystem isOfSystem: Bool = false
  ) {
    self.environment = environment
    places = directories
    self.ownership = ownership
    languages = LanguagePreference.languages(in: environment)
    for path in directories.applications {
      if isOfSystem, directories.origin(of: path, ownership: ownership) == .user { continue }
      tree = Tree(path)
      read(path, prefix: "", depth: 0)
      if let excess = tree.excess { problems.append(HandlerProblem(file: path, message: excess)) }
    }
    problems.sort { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
  }

  /// At any path. Blocks on files. The environment contains `PATH` for `TryExec`.
  init(checking file: String, id: String, environment: [String: String]) {
    self.environment = environment
    places = DataDirectories(user: nil, system: [])
    ownership = .real
    languages = []
    readEntry(file, id)
    if problems.isEmpty, let lastLinks { problems += lastLinks.problems() }
    if declarations.isEmpty && problems.isEmpty && !isLeftOut {
      let bytes = try? Files.contents(of: file)
      let isSnaps = Files.mentions(bytes ?? [], anyOf: [DataDirectories.snapKey])
      problems.append(
        HandlerProblem(
          file: file,
          message: "it claims nothing from tags: there is no [\(Names.Handler.interface)] with Domains=, Schemes=, "
            + "MimeTypes= or ExternalTypes="
            + (isSnaps ? ", because snapd removes it; in a snap, write \(HandlerClaims.hostClaim)" : "")))
    }
  }

  /// Reads a directory once, even if several links lead to it. A file in a folder `a/b` has the id `a-b-file.desktop`.
  /// Only the first file with an id is used, even if it is invalid. A link to a file may lead anywhere, as those of
  /// Flatpak and Nix do.
  private mutating func read(_ path: String, prefix: String, depth: Int) {
    guard let identity = Files.identity(ofDirectory: path), !tree.visited.contains(identity) else { return }
    guard depth <= Self.maximumDepth else {
      if !tree.isTooDeep {
        problems.append(HandlerProblem(file: path, message: "is too deep; such folders are left out"))
      }
      tree.isTooDeep = true
      return
    }
    tree.visited.insert(identity)
    guard tree.allows(tree.visited.count, atMost: Self.maximumDirectories, "\(Self.maximumDirectories) directories")
    else { return }
    guard tree.contains(path) else {
      problems.append(
        HandlerProblem(
          file: path, message: "leads out of \(tree.path) and is left out; link to each desktop entry instead"))
      return
    }
    let room = Self.maximumNames - tree.names
    guard let names = FileContents.names(inDirectory: path, atMost: room) else { return }
    directories.append(path)
    tree.names += names.count
    for name in names.prefix(room).sorted() where tree.excess == nil {
      let file = "\(path)/\(name)"
      guard name.hasSuffix(".desktop") else {
        read(file, prefix: "\(prefix)\(name)-", depth: depth + 1)
        continue
      }
      tree.entries += 1
      guard tree.allows(tree.entries, atMost: Self.maximumEntries, "\(Self.maximumEntries) desktop entries") else {
        return
      }
      let id = prefix + name
      if seen.insert(id).inserted { readEntry(file, id) }
    }
    _ = tree.allows(names.count, atMost: room, "\(Self.maximumNames) names")
  }

  private mutating func readEntry(_ file: String, _ id: String) {
    do throws(HandlerProblem) {
      let before = tree.size
      guard let bytes = try Files.contents(of: file, size: &tree.size),
        tree.allows(tree.size, atMost: Self.maximumSize, "\(Self.maximumSize >> 20) MiB of desktop entries"),
        Files.mentions(bytes, anyOf: HandlerClaims.markers)
      else { return }
      tree.claimSize += tree.size - before
      let most = "\(Self.maximumClaimSize >> 20) MiB of desktop entries with domains or schemes"
      guard tree.allows(tree.claimSize, atMost: Self.maximumClaimSize, most) else { return }
      let keyFile: KeyFile
      do throws(KeyFileError) {
        keyFile = try KeyFile(bytes: bytes, file: file)
      } catch {
        throw HandlerProblem(error)
      }
      isLeftOut = true
      if try keyFile.flag("Hidden") { return }
      if let program = try keyFile.text("TryExec"), !program.isEmpty,
        ProcessEnvironment.program(program, in: environment) == nil
      {
        return
      }
      isLeftOut = false
      let isExported = DataDirectories.storeKeys.contains { keyFile.entry(DesktopEntry.group, $0) != nil }
      let origin = places.origin(of: file, isExported: isExported, ownership: ownership)
      let entry = try DesktopEntry(keyFile, desktopID: id, origin: origin, languages: languages)
      guard entry.application.isDBusActivatable || !entry.usesTerminal else {
        throw keyFile.problem("Terminal", "a handler gets the message on its standard input and cannot use a terminal")
      }
      let claims = try HandlerClaims(keyFile)
      for problem in claims.problems { name(problem, id) }
      declare(claims, by: entry.application)
    } catch {
      name(error, id)
    }
  }

  private mutating func name(_ problem: HandlerProblem, _ id: String) {
    var problem = problem
    problem.desktopID = id
    problems.append(problem)
  }

  private mutating func declare(_ claims: HandlerClaims, by application: Application) {
    let id = application.desktopID
    let domains = claims.domains
    var (links, hasUnusableLinks) = (AppSiteAssociation?.none, claims.hasUnusableLinks)
    if let own = claims.links {
      lastLinks = own
      do throws(HandlerProblem) {
        links = try rules(own, of: application)
      } catch {
        hasUnusableLinks = true
        self.name(error, id)
      }
    }
    let count = claims.count
    guard count > 0 else { return }
    guard spent[application.origin, default: Spent()].claims + count <= Self.maximumClaims else {
      return name(
        HandlerProblem(
          file: application.file,
          message: "all entries before it have claimed \(Self.maximumClaims) domains already; remove some"), id)
    }
    spent[application.origin, default: Spent()].claims += count
    declarations.append(
      HandlerDeclaration(
        application: application, domains: domains, schemes: claims.schemes, links: links,
        hasUnusableLinks: hasUnusableLinks, mimeTypes: claims.mimeTypes, externalTypes: claims.externalTypes))
  }

  /// Charges the cost to each entry, even if several entries name the same file.
  private mutating func rules(
    _ own: LinkRules, of application: Application
  ) throws(HandlerProblem) -> AppSiteAssociation {
    if let file = own.file, linkFiles.count < Self.maximumDirectories { linkFiles.insert(file) }
    let used = spent[application.origin, default: Spent()]
    guard used.linkSize < Self.maximumLinkSize else {
      throw own.problem(
        "the path rules before it have more than \(Self.maximumLinkSize >> 20) MiB; shorten them")
    }
    let rules = try own.rules(for: application.desktopID, size: &spent[application.origin, default: Spent()].linkSize)
    guard used.linkCost + rules.cost <= Self.maximumLinkCost else {
      throw own.problem("it and the path rules before it have too many patterns; shorten them")
    }
    spent[application.origin, default: Spent()].linkCost += rules.cost
    return rules
  }
}
