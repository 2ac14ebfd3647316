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

  @Test("what was kept is there, for the user alone, and nothing else is")
  func keep() async throws {
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

  @Test("a record is replaced as a whole: whoever has the old one open reads the old one")
  func replaced() async throws {
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: "example.com")
    let path = folder.file("state/associations/apple-app-site-association/example.com")
    var before = stat()
    #expect(stat(path, &before) == 0)
    try await store.keep(record(menu("/b")), of: .appSiteAssociation, at: "example.com")
    var after = stat()
    #expect(stat(path, &after) == 0)
    #expect(before.st_ino != after.st_ino)
    #expect(await store.associations(at: Self.now).count == 1)
  }

  @Test("who a domain vouches for, from both files")
  func associations() async throws {
    try await store.keep(record(menu("/a/*")), of: .appSiteAssociation, at: "example.com")
    try await store.keep(record(links), of: .assetLinks, at: "example.com")
    let association = try #require(await store.associations(at: Self.now)["example.com"])
    #expect(association.vouches(for: "org.example.Menu.desktop", on: try URI("https://example.com/a/1")))
    #expect(!association.vouches(for: "org.example.Menu.desktop", on: try URI("https://example.com/b")))
    #expect(association.vouches(for: "org.example.Table.desktop", on: try URI("https://example.com/b")))
    #expect(!association.vouches(for: "org.example.Other.desktop", on: try URI("https://example.com/a/1")))
    #expect(await store.associations(at: Self.now + AssociationRecord.maximumAge).isEmpty)
  }

  @Test(
    "names that lead elsewhere", arguments: ["../x", "a/b", "", ".", "*.example.com", "EXAMPLE.com", "example.com."])
  func names(domain: String) async {
    await #expect(throws: (any Error).self) { try await store.keep(record(menu("/a")), of: .assetLinks, at: domain) }
  }

  @Test("the longest name that a domain can have")
  func longest() async throws {
    let label = String(repeating: "a", count: 61)
    let domain = "\(label).\(label).\(label).\(label).com"
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: domain)
    #expect(await store.associations(at: Self.now)[domain] != nil)
  }

  @Test("what is no record, or no file, is not there")
  func broken() async throws {
    try await store.keep(record(menu("/a")), of: .appSiteAssociation, at: "example.com")
    let base = "state/associations/apple-app-site-association"
    try folder.write("nonsense", to: "\(base)/nonsense.example.com")
    try folder.write(String(repeating: "x", count: 300_000), to: "\(base)/large.example.com")
    #expect(mkdir(folder.file("\(base)/folder.example.com"), 0o700) == 0)
    #expect(mkfifo(folder.file("\(base)/pipe.example.com"), 0o600) == 0)
    #expect(symlink(folder.file("\(base)/example.com"), folder.file("\(base)/link.example.com")) == 0)
    #expect(await store.associations(at: Self.now).keys.sorted() == ["example.com"])
  }
}
