import Testing
import UniversalLinks

/// Whether a domain vouches for an application.
@Suite struct DomainAssociationTests {
  private static let id = "org.example.Menu.desktop"

  private func assetLinks() throws -> AssetLinks {
    let statement = """
      [{"relation": ["delegate_permission/common.handle_all_urls"],
        "target": {"namespace": "linux_app", "desktop_id": "org.example.Menu"}}]
      """
    return try AssetLinks(json: Array(statement.utf8))
  }

  private func vouches(_ association: DomainAssociation, _ path: String = "/a") throws -> Bool {
    association.vouches(for: Self.id, on: try URI("https://example.com\(path)"))
  }

  @Test(arguments: [
    ("org.example.Menu", true), ("org.example.Menu.desktop", true), ("ABCDE12345.org.example.Menu", false),
    ("ABCDE12345.org.example.Menu.desktop", false), ("org.example", false), ("", false),
  ])
  func `only an app id without a team prefix names a desktop entry`(appID: String, expected: Bool) throws {
    let association = DomainAssociation(appLinks: try appLinks(for: appID))
    #expect(association.names(Self.id) == expected)
    #expect(try vouches(association) == expected)
    #expect(AppSiteAssociation.appID(appID, names: Self.id) == expected)
  }

  @Test(arguments: ["", #"{"exclude": true}"#])
  func `an application without rules, or with exclusions only, gets no link`(components: String) throws {
    let file = try appLinks(components)
    #expect(!file.names(Self.id))
    // The file still names the application, so the asset links file is ignored.
    let association = DomainAssociation(appLinks: file, assetLinks: try assetLinks())
    #expect(!association.names(Self.id))
    #expect(try !vouches(association))
  }

  @Test func `rules override an asset links statement`() throws {
    let both = DomainAssociation(appLinks: try appLinks(#"{"/": "/a"}"#), assetLinks: try assetLinks())
    #expect(try vouches(both) && !vouches(both, "/b"))
    #expect(both.names(Self.id) && !both.names("org.example.Other.desktop"))
    #expect(try !vouches(DomainAssociation()))
  }

  @Test func `an asset links statement is ignored while the rules are unknown`() throws {
    #expect(try vouches(DomainAssociation(assetLinks: try assetLinks())))
    let unknown = DomainAssociation(assetLinks: try assetLinks(), appLinksAreUnknown: true)
    #expect(try !vouches(unknown))
    #expect(!unknown.names(Self.id))
    // If the file does not name the application, the asset links file applies.
    #expect(try vouches(DomainAssociation(appLinks: try appLinks(for: "other"), assetLinks: try assetLinks())))
    // Without an asset links file, the rules alone are enough.
    #expect(try vouches(DomainAssociation(appLinks: try appLinks())))
  }
}
