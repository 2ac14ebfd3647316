package import EventLoop
import Glibc
import Names
import Settings
package import UniversalLinks

/// The stored records, one file each: `<directory>/<document>/<domain>`. Only the user can read a file, and it is
/// replaced as a whole.
///
/// The files are in the state directory, not in the cache. If a cleanup deleted them while there is no network, the
/// user would be asked about trusted handlers. A dedicated thread reads and writes the files.
package struct AssociationStore: Sendable, Hashable {
  /// The maximum number of domains to load documents for. No user's handlers claim as many.
  static let maximumDomains = 1000
  /// The maximum cost of the rules of all loaded documents: the limit for one document. They take about 20 MB.
  static let maximumCost = 1 << 18

  /// The maximum number of names to read from a directory; others are ignored. No user's handlers claim as many.
  private static let maximumNames = 100_000

  private let directory: String

  /// The directory is created if it does not exist.
  package init(directory: String) { self.directory = directory }

  /// In the state directory of the user (XDG Base Directory Specification). Nil if neither `XDG_STATE_HOME` nor `HOME`
  /// names it.
  package init?(environment: [String: String]) {
    guard let state = BaseDirectories(environment: environment).state else { return nil }
    directory = "\(state)/\(Names.Files.agentState)/\(Names.Files.associations)"
  }

  /// The domain is in IDNA form. A new record if there is none, or if it cannot be read.
  package func record(of document: AssociationDocument, at domain: String) async -> AssociationRecord {
    (try? await DedicatedThread.run { readRecord(of: document, at: domain) }) ?? AssociationRecord()
  }

  private func readRecord(of document: AssociationDocument, at domain: String) -> AssociationRecord {
    guard let record = unchecked(document, at: domain) else { return AssociationRecord() }
    if case .file(let file)? = record.answer, document.mistake(in: file) != nil { return AssociationRecord() }
    return record
  }

  /// The document is not checked yet; nil if there is no record.
  private func unchecked(_ document: AssociationDocument, at domain: String) -> AssociationRecord? {
    path(document, domain).flatMap(Self.contents).flatMap(AssociationRecord.init(encoded:))
  }

  /// The domain is in IDNA form. If this throws, the previous record is still there.
  package func keep(
    _ record: AssociationRecord, of document: AssociationDocument, at domain: String
  ) async throws(SystemError) {
    let result = try await DedicatedThread.run { () -> Result<Void, SystemError> in
      do throws(SystemError) {
        return .success(try write(record, of: document, at: domain))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func write(
    _ record: AssociationRecord, of document: AssociationDocument, at domain: String
  ) throws(SystemError) {
    guard let path = path(document, domain) else {
      throw SystemError("keep what is known of a domain of this name", errno: EINVAL)
    }
    let folder = "\(directory)/\(document.rawValue)"
    try Self.makeDirectory(folder)
    try FileDescriptor.replace(path, with: record.encoded)
  }

  /// The statements of domains about applications that are still valid at `now`, in seconds since 1970.
  ///
  /// `claims` are the desktop ids of the applications to look up, by domain. No other domain is read, and no statement
  /// about other applications is kept.
  package func associations(of claims: [String: Set<String>], at now: Int64) async -> [String: DomainAssociation] {
    (try? await DedicatedThread.run { load(claims, at: now) }) ?? [:]
  }

  private func load(_ claims: [String: Set<String>], at now: Int64) -> [String: DomainAssociation] {
    var result: [String: DomainAssociation] = [:]
    var cost = 0
    let known = AssociationDocument.allCases.reduce(into: Set<String>()) { known, document in
      known.formUnion(names(of: document))
    }
    for domain in known.sorted().lazy.filter({ claims[$0] != nil }).prefix(Self.maximumDomains) {
      let ids = claims[domain] ?? []
      var association = DomainAssociation()
      switch unchecked(.appSiteAssociation, at: domain)?.current(at: now) {
      case .file(let file)?:
        association.appLinks = try? AppSiteAssociation(json: file).limited { appID in
          ids.contains { AppSiteAssociation.appID(appID, names: $0) }
        }
        association.appLinksAreUnknown = association.appLinks == nil
      case AssociationRecord.Answer.none?: break
      case nil: association.appLinksAreUnknown = true
      }
      if case .file(let file)? = unchecked(.assetLinks, at: domain)?.current(at: now) {
        association.assetLinks = (try? AssetLinks(json: file))?.limited(to: ids)
      }
      cost += association.appLinks?.cost ?? 0
      guard cost <= Self.maximumCost else { break }
      if association.appLinks != nil || association.assetLinks != nil { result[domain] = association }
    }
    return result
  }

  /// Sorts domains in IDNA form by the time of the last request. Domains that were never asked come first, then the one
  /// that was asked longest ago.
  package func longestAgoFirst(_ domains: [String]) async -> [String] {
    let times = try? await DedicatedThread.run {
      domains.map { domain in
        AssociationDocument.allCases.map { document in
          var information = stat()
          guard let path = path(document, domain), stat(path, &information) == 0 else { return 0 }
          return Int(information.st_mtim.tv_sec)
        }.min() ?? 0
      }
    }
    guard let times else { return domains }
    return zip(times, domains).sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// `domains` are those that an application claims.
  package func forget(allBut domains: Set<String>) async {
    _ = try? await DedicatedThread.run {
      for document in AssociationDocument.allCases {
        let folder = "\(directory)/\(document.rawValue)"
        for domain in names(of: document) where !domains.contains(domain) {
          unlink("\(folder)/\(domain)")
        }
      }
    }
  }

  private func names(of document: AssociationDocument) -> [String] {
    FileContents.names(inDirectory: "\(directory)/\(document.rawValue)", atMost: Self.maximumNames) ?? []
  }

  private func path(_ document: AssociationDocument, _ domain: String) -> String? {
    guard let pattern = try? DomainPattern(domain), !pattern.isWildcard, pattern.domain == domain else { return nil }
    return "\(directory)/\(document.rawValue)/\(domain)"
  }

  private static func makeDirectory(_ path: String) throws(SystemError) {
    var parent = ""
    for part in path.split(separator: "/") {
      parent += "/\(part)"
      guard mkdir(parent, 0o700) == 0 || errno == EEXIST else { throw SystemError("make the directory \(parent)") }
    }
  }

  /// Nil if the file does not exist, is not a regular file, or is larger than a record can be.
  private static func contents(of path: String) -> [UInt8]? {
    let maximum = AppSiteAssociation.maximumSize + AssociationRecord.maximumHeader
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    let file = FileDescriptor(owning: descriptor)
    var information = stat()
    guard fstat(file.rawValue, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = read(file.rawValue, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= maximum else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}
