import Associations
import CommandLineTool
import TestKit
import Testing
import UniversalLinks

@Suite(.timeLimit(.minutes(5))) struct AssociationRefreshTests {
  private static let now: Int64 = 1_800_000_000
  private let folder: TemporaryDirectory
  private let store: AssociationStore

  init() throws {
    folder = try TemporaryDirectory()
    store = AssociationStore(directory: folder.path)
  }

  private func refresh(_ store: AssociationStore?, at now: Int64 = now) async throws -> AssociationRefresh {
    let options = try await AssociationServer.shared.value.options()
    return AssociationRefresh(fetcher: AssociationFetcher(options: options), store: store) { now }
  }

  @Test func `each domain is asked for both documents, and the answers are stored`() async throws {
    let domains = (0..<9).map { "refresh\($0).example.com" } + ["missing.example.com"]
    let findings = try await refresh(store).ask(domains)
    #expect(findings.map { $0.map(\.domain) } == domains.map { [$0, $0] })
    #expect(findings.allSatisfy { $0.map(\.document) == AssociationDocument.allCases })
    #expect(findings.joined().allSatisfy { $0.problem == nil && $0.record.failure == nil })
    let ids: Set = ["org.example.Menu.desktop"]
    let known = await store.associations(of: Dictionary(uniqueKeysWithValues: domains.map { ($0, ids) }), at: Self.now)
    #expect(known.keys.sorted() == Array(domains.dropLast()))
    #expect(known["refresh0.example.com"]?.names("org.example.Menu.desktop") == true)
  }

  @Test func `only an expired answer is requested again`() async throws {
    let domain = "due.example.com"
    #expect(try await refresh(store).ask([domain], onlyDue: true).joined().count == 2)
    // The server says max-age=7200.
    #expect(try await refresh(store, at: Self.now + 7199).ask([domain], onlyDue: true) == [[]])
    #expect(try await refresh(store, at: Self.now + 7200).ask([domain], onlyDue: true).joined().count == 2)
  }

  @Test func `a domain that fails keeps its last answer`() async throws {
    var record = AssociationRecord()
    let file = Array(#"{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{}]}]}}"#.utf8)
    record.take(.found(file, cacheControl: nil), at: Self.now)
    try await store.keep(record, of: .appSiteAssociation, at: "broken.example.com")
    let later = Self.now + 86_400
    let findings = try await refresh(store, at: later).ask(["broken.example.com"])
    let finding = try #require(findings.first?.first)
    #expect(finding.record.failure?.code == .status)
    #expect(finding.record.names("org.example.Menu.desktop", in: .appSiteAssociation, at: later))
    let known = await store.associations(of: ["broken.example.com": ["org.example.Menu.desktop"]], at: later)
    #expect(known["broken.example.com"]?.names("org.example.Menu.desktop") == true)
  }

  @Test func `a refresh works without a store, and reports a store that cannot be written`() async throws {
    #expect(try await refresh(nil).ask(["good.example.com"]).joined().allSatisfy { $0.problem == nil })
    let file = try folder.write("", to: "file")
    let findings = try await refresh(AssociationStore(directory: file)).ask(["good.example.com"])
    #expect(findings.joined().allSatisfy { $0.problem != nil })
  }

  @Test
  func `without domains there are no findings`() async throws { #expect(try await refresh(store).ask([]).isEmpty) }
}
