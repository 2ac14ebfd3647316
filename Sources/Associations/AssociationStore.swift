public import EventLoop
import Glibc
import Names
public import UniversalLinks

/// The records, a file each, `<directory>/<document>/<domain>`: readable by the user alone, and replaced as a whole.
///
/// In the state directory rather than the cache: where what is known were lost whenever somebody tidies up, handlers that are
/// trusted would be asked about while there is no network. What reads and writes files has a thread of its own.
public struct AssociationStore: Sendable, Hashable {
  /// The most documents of a kind that are loaded; nobody has as many handlers.
  static let maximumDocuments = 1000

  private let directory: String

  /// - Parameter directory: where the records are; made where it is missing.
  public init(directory: String) { self.directory = directory }

  /// Where the user's are (XDG Base Directory Specification); nil where the environment does not say.
  ///
  /// - Parameter environment: `XDG_STATE_HOME` and `HOME` count, where they are absolute.
  public init?(environment: [String: String]) {
    var base = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    if base == nil, let home = environment["HOME"], home.hasPrefix("/") { base = "\(home)/.local/state" }
    guard let base else { return nil }
    directory = "\(base)/\(Names.Files.agentState)/\(Names.Files.associations)"
  }

  /// What is known of a document.
  ///
  /// - Parameters:
  ///   - document: the kind of document.
  ///   - domain: the domain in IDNA form.
  /// - Returns: a new record where there is none, or none that can be read.
  public func record(of document: AssociationDocument, at domain: String) async -> AssociationRecord {
    (try? await DedicatedThread.run { readRecord(of: document, at: domain) }) ?? AssociationRecord()
  }

  private func readRecord(of document: AssociationDocument, at domain: String) -> AssociationRecord {
    guard let path = path(document, domain), let bytes = Self.contents(of: path) else { return AssociationRecord() }
    return AssociationRecord(encoded: bytes, of: document) ?? AssociationRecord()
  }

  /// Keeps a record.
  ///
  /// - Parameters:
  ///   - record: what is known.
  ///   - document: of what kind of document.
  ///   - domain: the domain in IDNA form.
  /// - Throws: `SystemError` where it cannot be written; what was known before is then still there.
  public func keep(
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
    // Not beside the domain's own name, which may be as long as a file's name can be.
    var template = Array("\(folder)/.new-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError("make a file in \(folder)") }
    let file = FileDescriptor(owning: descriptor)
    let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    do throws(SystemError) {
      try Self.write(record.encoded, to: file)
      guard fsync(file.rawValue) == 0, rename(temporary, path) == 0 else { throw SystemError("write \(path)") }
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// What still counts of all that is known.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Returns: by domain.
  public func associations(at now: Int64) async -> [String: DomainAssociation] {
    (try? await DedicatedThread.run { readAll(at: now) }) ?? [:]
  }

  private func readAll(at now: Int64) -> [String: DomainAssociation] {
    var result: [String: DomainAssociation] = [:]
    for document in AssociationDocument.allCases {
      for domain in Self.names(in: "\(directory)/\(document.rawValue)").prefix(Self.maximumDocuments) {
        guard case .file(let file)? = readRecord(of: document, at: domain).current(at: now) else { continue }
        switch document {
        case .appSiteAssociation: result[domain, default: .init()].appLinks = try? AppSiteAssociation(json: file)
        case .assetLinks: result[domain, default: .init()].assetLinks = try? AssetLinks(json: file)
        }
      }
    }
    return result
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

  private static func write(_ bytes: [UInt8], to file: FileDescriptor) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write what is known of a domain") }
      rest = rest.dropFirst(count)
    }
  }

  /// In order, without those that begin with a dot.
  private static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// Nil where there is no such file, or one that is larger than a record can be.
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
