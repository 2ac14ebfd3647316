import EventLoop
import Glibc
import KeyFile
import Names
import Routing
import UniversalLinks

/// One look through the directories of desktop entries: what handles what, what is wrong, and what to watch.
struct HandlerScan: Sendable {
  private(set) var declarations: [HandlerDeclaration] = []
  private(set) var problems: [HandlerProblem] = []
  /// The directories that were read, with those in them.
  private(set) var directories: [String] = []
  /// The files of path rules that entries name, as absolute paths, at most `maximumDirectories` of them.
  private(set) var linkFiles: Set<String> = []

  /// In each of the data directories, so that the user's entries leave the system's theirs. No desktop has as many; what is
  /// beyond is not looked at.
  static let maximumEntries = 50_000
  /// Names of any kind in one directory: each that is no desktop entry may be a directory, and is looked at.
  static let maximumNames = 100_000
  /// In each of the data directories; what is beyond is neither read nor watched.
  static let maximumDirectories = 1_000
  /// In all entries of an origin together, what is measured to be fast and small; entries beyond do not count.
  static let maximumClaims = 100_000
  /// The patterns of all files of path rules of an origin, as of one such file; they take some 20 MB.
  static let maximumLinkCost = 1 << 18
  /// The sizes of those files, in bytes; reading that much takes a part of a second.
  static let maximumLinkSize = 4 << 20
  private static let maximumDepth = 8

  /// What the entries of an origin have used of what there is for them.
  private struct Spent {
    var claims = 0
    var linkCost = 0
    var linkSize = 0
  }

  private let languages: [String]
  private let environment: [String: String]
  private let places: DataDirectories
  private let ownership: FileOwnership
  private var seen: Set<String> = []
  /// Whether the entry that was read last is hidden, or what it tries is not installed: it is none, and nothing is wrong with it.
  private var isLeftOut = false
  /// The desktop entries of the data directory that is being read.
  private var count = 0
  private var spent: [Application.Origin: Spent] = [:]
  /// The directories read below the data directory that is being read. Not all that were ever read: a link of the user's into
  /// the system's directory must not stand in for that directory.
  private var visited: Set<Files.Identity> = []

  /// Reads every directory. Blocks on files.
  ///
  /// - Parameters:
  ///   - directories: where to look.
  ///   - environment: for the user's languages, and `PATH` for `TryExec`.
  ///   - ownership: who can change files.
  init(_ directories: DataDirectories, environment: [String: String], ownership: FileOwnership = .real) {
    self.environment = environment
    places = directories
    self.ownership = ownership
    languages = LanguagePreference.languages(in: environment)
    for path in directories.applications {
      visited = []
      count = 0
      if !read(path, prefix: "", depth: 0) {
        problems.append(
          HandlerProblem(
            file: path,
            message: "there are more than \(Self.maximumDirectories) directories, \(Self.maximumEntries) desktop "
              + "entries or, in one directory, \(Self.maximumNames) names; the rest is left out. Does a symbolic link lead out of it?"
          ))
      }
    }
    problems.sort { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
  }

  /// Looks at a single desktop entry, wherever it is. Blocks on files.
  ///
  /// - Parameters:
  ///   - file: the desktop entry.
  ///   - id: its id.
  ///   - environment: `PATH` for `TryExec`.
  init(checking file: String, id: String, environment: [String: String]) {
    self.environment = environment
    places = DataDirectories(user: nil, system: [])
    ownership = .real
    languages = []
    readEntry(file, id)
    for path in linkFiles.sorted() where problems.isEmpty { problems += LinkRulesFile(path: path).problems() }
    if declarations.isEmpty && problems.isEmpty && !isLeftOut {
      problems.append(
        HandlerProblem(
          file: file,
          message: "it claims nothing from tags: there is no [\(Names.Handler.interface)] with Domains= or Schemes="))
    }
  }

  /// A file in a folder `a/b` has the id `a-b-file.desktop`; the first file of an id counts, whatever is in it. A directory
  /// is read once, however many links lead to it.
  ///
  /// - Returns: false where there was too much to read.
  private mutating func read(_ path: String, prefix: String, depth: Int) -> Bool {
    guard depth <= Self.maximumDepth, let identity = Files.identity(ofDirectory: path),
      visited.insert(identity).inserted
    else { return true }
    guard visited.count <= Self.maximumDirectories else { return false }
    guard let names = FileContents.names(inDirectory: path, atMost: Self.maximumNames) else { return true }
    directories.append(path)
    for name in names.prefix(Self.maximumNames).sorted() {
      let file = "\(path)/\(name)"
      if name.hasSuffix(".desktop") {
        guard count < Self.maximumEntries else { return false }
        count += 1
        let id = prefix + name
        if seen.insert(id).inserted { readEntry(file, id) }
      } else if !read(file, prefix: "\(prefix)\(name)-", depth: depth + 1) {
        return false
      }
    }
    return names.count <= Self.maximumNames
  }

  private mutating func readEntry(_ file: String, _ id: String) {
    do throws(HandlerProblem) {
      guard let bytes = try Files.contents(of: file), Files.mentions(bytes, anyOf: HandlerClaims.markers) else {
        return
      }
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
      let origin = places.origin(of: file, ownership: ownership)
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
    var (domains, links) = (claims.domains, AppSiteAssociation?.none)
    if let name = claims.links {
      do throws(HandlerProblem) {
        links = try rules(LinkRulesFile(name, in: application.file), of: application)
      } catch {
        // Without its rules it would be offered links that it does not want.
        domains = []
        self.name(error, id)
      }
    }
    guard !domains.isEmpty || !claims.schemes.isEmpty else { return }
    let count = domains.count + claims.schemes.count
    guard spent[application.origin, default: Spent()].claims + count <= Self.maximumClaims else {
      return name(
        HandlerProblem(
          file: application.file,
          message: "all entries before it have claimed \(Self.maximumClaims) domains already; remove some"), id)
    }
    spent[application.origin, default: Spent()].claims += count
    declarations.append(
      HandlerDeclaration(application: application, domains: domains, schemes: claims.schemes, links: links))
  }

  /// Charged for each entry, also where several name one file.
  private mutating func rules(
    _ file: LinkRulesFile, of application: Application
  ) throws(HandlerProblem) -> AppSiteAssociation {
    if linkFiles.count < Self.maximumDirectories { linkFiles.insert(file.path) }
    let used = spent[application.origin, default: Spent()]
    guard used.linkSize < Self.maximumLinkSize else {
      throw file.problem(
        "the files of path rules before it have more than \(Self.maximumLinkSize >> 20) MiB; shorten them")
    }
    let (rules, size) = try file.rules(for: application.desktopID)
    spent[application.origin, default: Spent()].linkSize += size
    guard used.linkCost + rules.cost <= Self.maximumLinkCost else {
      throw file.problem("it and the files of path rules before it have too many patterns; shorten them")
    }
    spent[application.origin, default: Spent()].linkCost += rules.cost
    return rules
  }
}
