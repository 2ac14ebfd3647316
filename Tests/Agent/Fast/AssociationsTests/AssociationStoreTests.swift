import Associations
import Glibc
import Rig
import Testing
import UniversalLinks

@Suite struct AssociationStoreTests {
  private static let now: Int64 = 1_800_000_000
  private let folder: TemporaryDirectory
  private let store: AssociationStore

  init() throws {
    folder = try TemporaryDirectory()
    store = AssociationStore(directory: folder.file("state/associations"))
  }

  private func record(_ file: String) -> AssociationRecord {
    var record = AssociationRecord()
    record.take(.found(Array(file.utf8), cacheControl: nil), at: Self.now)
    return record
  }

  private func menu(_ path: String) -> String {
    #"{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "\#(path)"}]}]}}"#
  }

  private let links = """
    [{"relation": ["delegate_permission/common.handle_all_urls"],
      "target": {"namespace": "linux_app", "desktop_id": "org.example.Table"}}]
    """

  private func known(at now: Int64) async -> [String: DomainAssociation] {
    let label = String(repeating: "a", count: 61)
    let ids: Set = ["org.example.Menu.desktop", "org.example.Table.desktop"]
    let domains = ["example.com", "link.example.com", "pipe.example.com", "\(label).\(label).\(label).\(label).com"]
    return await store.associations(
      of: Dictionary(
        uniqueKeysWithValues: (domains + ["nonsense.example.com", "large.example.com"]).map { ($0, ids) }), at: now)
  }

  @Test func `a record is stored for one kind of document, and only the user can read it`() async throws {
    let record = record(menu("/a"))
    try await store.keep(record, of: .appSiteAssociation, at: "example.com")
    #expect(await store.record(of: .appSiteAssociation, at: "example.com") == record)
    #expect(await store.record(of: .assetLinks, at: "example.com") == AssociationRecord())
    var information = stat()
    #expect(stat(folder.file("state/associations/apple-app-site-association/example.com"), &information) == 0)
    #expect(information.st_mode & 0o777 == 0o600)
    #expect(stat(folder.file("state/associations"), &information) == 0)
    #expect(information.st_mode & 0o777 == 0o700)
  }

  @Test func `a record is replaced by a new file, not overwritten in place`() async throws {
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: "example.com")
    let path = folder.file("state/associations/apple-app-site-association/example.com")
    var before = stat()
    #expect(stat(path, &before) == 0)
    try await store.keep(record(menu("/b")), of: .appSiteAssociation, at: "example.com")
    var after = stat()
    #expect(stat(path, &after) == 0)
    #expect(before.st_ino != after.st_ino)
    #expect(await known(at: Self.now).count == 1)
  }

  @Test func `a domain vouches for applications through both files`() async throws {
    try await store.keep(record(menu("/a/*")), of: .appSiteAssociation, at: "example.com")
    try await store.keep(record(links), of: .assetLinks, at: "example.com")
    let association = try #require(await known(at: Self.now)["example.com"])
    #expect(association.vouches(for: "org.example.Menu.desktop", on: try URI("https://example.com/a/1")))
    #expect(!association.vouches(for: "org.example.Menu.desktop", on: try URI("https://example.com/b")))
    #expect(association.vouches(for: "org.example.Table.desktop", on: try URI("https://example.com/b")))
    #expect(!association.vouches(for: "org.example.Other.desktop", on: try URI("https://example.com/a/1")))
    #expect(await known(at: Self.now + AssociationRecord.maximumAge).isEmpty)
  }

  @Test(arguments: ["../x", "a/b", "", ".", "*.example.com", "EXAMPLE.com", "example.com."])
  func `a domain name that is not canonical is rejected`(domain: String) async {
    await #expect(throws: (any Error).self) { try await store.keep(record(menu("/a")), of: .assetLinks, at: domain) }
  }

  @Test func `the longest possible domain name is stored`() async throws {
    let label = String(repeating: "a", count: 61)
    let domain = "\(label).\(label).\(label).\(label).com"
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: domain)
    #expect(await known(at: Self.now)[domain] != nil)
  }

  @Test func `damaged records and special files are ignored`() async throws {
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: "example.com")
    let base = "state/associations/apple-app-site-association"
    try folder.write("nonsense", to: "\(base)/nonsense.example.com")
    try folder.write(String(repeating: "x", count: 300_000), to: "\(base)/large.example.com")
    #expect(mkdir(folder.file("\(base)/folder.example.com"), 0o700) == 0)
    #expect(mkfifo(folder.file("\(base)/pipe.example.com"), 0o600) == 0)
    #expect(symlink(folder.file("\(base)/example.com"), folder.file("\(base)/link.example.com")) == 0)
    #expect(await known(at: Self.now).keys.sorted() == ["example.com"])
  }

  @Test func `only the rules of the requested applications are kept in memory`() async throws {
    let details = ["org.example.Menu", "ABCDE12345.org.example.Menu", "org.example.Other"].map {
      #"{"appIDs": ["\#($0)"], "components": [{"/": "\#(String(repeating: "*a", count: 2000))"}]}"#
    }
    let file = #"{"applinks": {"details": [\#(details.joined(separator: ","))]}}"#
    for number in 0..<3 { try await store.keep(record(file), of: .appSiteAssociation, at: "d\(number).example") }
    let claims: [String: Set<String>] = [
      "d1.example": ["org.example.Menu.desktop"], "d2.example": ["org.example.None.desktop"],
    ]
    let known = await store.associations(of: claims, at: Self.now)
    #expect(known.keys.sorted() == ["d1.example", "d2.example"])
    #expect(known["d1.example"]?.appLinks?.details.map(\.appIDs) == [["org.example.Menu"]])
    #expect(known["d2.example"]?.appLinks?.details.isEmpty == true)
  }

  @Test func `a statement is ignored while the rules of its domain are unknown or too old`() async throws {
    try await store.keep(record(links), of: .assetLinks, at: "example.com")
    let link = try URI("https://example.com/")
    func vouches(_ now: Int64 = Self.now) async -> Bool {
      await known(at: now)["example.com"]?.vouches(for: "org.example.Table.desktop", on: link) == true
    }
    #expect(await !vouches())
    var failed = AssociationRecord()
    failed.take(.failed(FetchFailure(.status, "status 500")), at: Self.now)
    try await store.keep(failed, of: .appSiteAssociation, at: "example.com")
    #expect(await !vouches())
    var absent = AssociationRecord()
    absent.take(.absent, at: Self.now - AssociationRecord.maximumAge)
    try await store.keep(absent, of: .appSiteAssociation, at: "example.com")
    #expect(await !vouches())
    absent.take(.absent, at: Self.now)
    try await store.keep(absent, of: .appSiteAssociation, at: "example.com")
    #expect(await vouches())
  }

  @Test func `domains asked longest ago come first, and unclaimed domains are forgotten`() async throws {
    for (domain, time) in [("a.example", 300), ("b.example", 100), ("c.example", 200)] {
      for document in AssociationDocument.allCases {
        try await store.keep(record(menu("/")), of: document, at: domain)
        var times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, folder.file("state/associations/\(document.rawValue)/\(domain)"), &times, 0) == 0)
      }
    }
    let domains = ["a.example", "b.example", "c.example", "new.example"]
    #expect(await store.longestAgoFirst(domains) == ["new.example", "b.example", "c.example", "a.example"])
    await store.forget(allBut: ["b.example"])
    #expect(await store.record(of: .appSiteAssociation, at: "a.example") == AssociationRecord())
    #expect(await store.record(of: .appSiteAssociation, at: "b.example") != AssociationRecord())
  }
}
