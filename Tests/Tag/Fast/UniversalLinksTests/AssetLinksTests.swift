import Testing
import UniversalLinks

@Suite struct AssetLinksTests {
  private func read(_ json: String) throws -> AssetLinks { try AssetLinks(json: Array(json.utf8)) }

  private let relation = #""relation": ["delegate_permission/common.handle_all_urls"]"#

  @Test func `a statement names a desktop entry with or without its suffix`() throws {
    for id in ["org.example.Menu", "org.example.Menu.desktop"] {
      let links = try read(#"[{\#(relation), "target": {"namespace": "linux_app", "desktop_id": "\#(id)"}}]"#)
      #expect(links.names("org.example.Menu.desktop"))
      #expect(links.names("org.example.Menu"))
      #expect(!links.names("org.example.Menu2.desktop"))
      #expect(!links.names("example.Menu.desktop"))
    }
  }

  @Test(arguments: [
    #"[]"#,
    // Google, "Digital Asset Links: Getting started".
    #"""
    [{"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "android_app",
      "package_name": "org.example.Menu", "sha256_cert_fingerprints": ["14:6D:E9"]}}]
    """#,
    #"[{"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "web", "site": "https://x.example"}}]"#,
    #"[{"relation": ["delegate_permission/common.get_login_creds"], "target": {"namespace": "linux_app", "desktop_id": "org.example.Menu"}}]"#,
    #"[{"include": "https://elsewhere.example/statements.json"}]"#,
    #"[{"relation": [], "target": {"namespace": "linux_app", "desktop_id": "org.example.Menu"}}]"#,
  ])
  func `statements about other targets or relations name no desktop entry`(json: String) throws {
    #expect(try read(json).desktopIDs.isEmpty)
  }

  @Test(arguments: [
    ("{}", "1:1"), ("[", "1:2"), ("[1]", "1:2: [0]"), ("[{}]", "[0]"),
    (#"[{"relation": "x", "target": {}}]"#, "[0].relation"),
    (#"[{"relation": [1], "target": {}}]"#, "[0].relation[0]"), (#"[{"relation": []}]"#, "target"),
    (#"[{"relation": [], "target": {}}]"#, "[0].target"),
    (
      #"[{"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "linux_app"}}]"#,
      "desktop_id"
    ),
  ])
  func `a malformed file is rejected, and the error names the location`(json: String, place: String) {
    let error = #expect(throws: AssociationError.self) { try read(json) }
    #expect(error?.description.contains(place) == true, "\(error?.description ?? "")")
  }
}
