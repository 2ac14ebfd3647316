import Testing
import UniversalLinks

/// What a domain's word comes to for an application.
@Suite struct DomainAssociationTests {
  private static let id = "org.example.Menu.desktop"

  private func appLinks(_ appID: String, _ components: String = "{}") throws -> AppSiteAssociation {
    let file = #"{"applinks": {"details": [{"appIDs": ["\#(appID)"], "components": [\#(components)]}]}}"#
    return try AppSiteAssociation(json: Array(file.utf8))
  }

  private func assetLinks(_ desktopID: String = "org.example.Menu") throws -> AssetLinks {
    let statement = """
      [{"relation": ["delegate_permission/common.handle_all_urls"],
        "target": {"namespace": "linux_app", "desktop_id": "\(desktopID)"}}]
      """
    return try AssetLinks(json: Array(statement.utf8))
  }

  private func vouches(_ association: DomainAssociation, _ path: String = "/a") throws -> Bool {
    association.vouches(for: Self.id, on: try URI("https://example.com\(path)"))
  }

  @Test(
    "an application for iPhones is not the desktop entry that has taken its name",
    arguments: [
      ("org.example.Menu", true), ("org.example.Menu.desktop", true), ("ABCDE12345.org.example.Menu", false),
      ("ABCDE12345.org.example.Menu.desktop", false), ("org.example", false), ("", false),
    ])
  func teamPrefix(appID: String, expected: Bool) throws {
    let association = DomainAssociation(appLinks: try appLinks(appID))
    #expect(association.names(Self.id) == expected)
    #expect(try vouches(association) == expected)
    #expect(AppSiteAssociation.appID(appID, names: Self.id) == expected)
  }

  @Test("no link is named by a list without rules, or of exclusions alone", arguments: ["", #"{"exclude": true}"#])
  func empty(components: String) throws {
    let file = try appLinks("org.example.Menu", components)
    #expect(!file.names(Self.id))
    // The file speaks of the application all the same: the other does not count.
    let association = DomainAssociation(appLinks: file, assetLinks: try assetLinks())
    #expect(!association.names(Self.id))
    #expect(try !vouches(association))
  }

  @Test("where nobody knows whether there are rules, what lets in everything does not count")
  func unknown() throws {
    #expect(try vouches(DomainAssociation(assetLinks: try assetLinks())))
    let unknown = DomainAssociation(assetLinks: try assetLinks(), appLinksAreUnknown: true)
    #expect(try !vouches(unknown))
    #expect(!unknown.names(Self.id))
    // A file that does not name the application leaves it to the other.
    #expect(try vouches(DomainAssociation(appLinks: try appLinks("other"), assetLinks: try assetLinks())))
    // The other way round: the rules say all.
    #expect(try vouches(DomainAssociation(appLinks: try appLinks("org.example.Menu"))))
  }
}
