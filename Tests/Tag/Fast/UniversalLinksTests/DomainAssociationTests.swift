import Rig
import Testing

@testable import UniversalLinks

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

@Suite struct AppSiteAssociationTests {
  func association(_ applinks: String) throws(AssociationError) -> AppSiteAssociation {
    try AppSiteAssociation(json: Array(#"{"applinks": \#(applinks)}"#.utf8))
  }

  func isIn(_ link: String, _ association: AppSiteAssociation) throws -> Bool {
    association.opens(try URI("https://example.com" + link))
  }

  /// `AppleRulesTests` has the documented rules. These cases follow from them.
  @Test(arguments: [
    (##"{"?": "a=1"}"##, "/?a=1", true), (##"{"?": "a=1"}"##, "/?a=1&b=2", false), (##"{"#": ""}"##, "/", true),
    (##"{"#": "?*"}"##, "/", false), (##"{"/": "/"}"##, "", true), (##"{"/": "/a", "#": "c"}"##, "/a#d", false),
  ])
  func `a component matches if every part that it names matches`(component: String, link: String, expected: Bool) throws
  {
    #expect(try isIn(link, try appLinks(component)) == expected)
  }

  @Test(arguments: [
    "/menu/../pay/1", "/menu/%2e%2e/pay/1", "/menu/%2E./pay/1", "/./pay/1", "/%2e/pay/1", "/..", "/pay/..",
    "/a/b/../../pay/1", "/menu%2F..%2Fpay/1", "/menu%2f%2e%2e%2fpay/1", "/menu%5C..%5Cpay/1", "/menu/..?x#y",
    "/menu/.",
  ])
  func `no rule covers a path with dot segments, in any encoding`(link: String) throws {
    for settings in ["", #", "percentEncoded": false"#] {
      let excluding = try appLinks(#"{"/": "/pay/*", "exclude": true\#(settings)}, {"/": "*"\#(settings)}, {}"#)
      #expect(try !isIn(link, excluding), "\(settings)")
      let uri = try URI("https://example.com" + link)
      #expect(excluding.verdict(on: uri) { $0 == "org.example.Menu" } == .unmatched)
      #expect(!DomainAssociation(appLinks: excluding).vouches(for: "org.example.Menu.desktop", on: uri))
    }
  }

  @Test(arguments: [
    "/.well-known/x", "/menu/...", "/a.b", "/..a", "/a..", "/a?b=/../c", "/a#/../b", "/%2e%2e%2e", "/%252e%252e/a",
  ])
  func `dots outside dot segments have no special meaning`(link: String) throws {
    #expect(try isIn(link, try appLinks(#"{"/": "/pay/*", "exclude": true}, {"/": "*"}"#)))
  }

  @Test func `the most specific comparison setting applies`() throws {
    let inComponent = try appLinks(
      #"{"/": "/A", "caseSensitive": true}, {"/": "/B"}"#, rest: #", "defaults": {"caseSensitive": false}"#)
    #expect(try !isIn("/a", inComponent))
    #expect(try isIn("/b", inComponent))
    let inDetail = try association(
      """
      {"details": [{"appIDs": ["org.example.Menu"], "defaults": {"caseSensitive": true},
        "components": [{"/": "/A"}]}], "defaults": {"caseSensitive": false, "percentEncoded": false}}
      """)
    #expect(try !isIn("/a", inDetail))
    #expect(try isIn("/%41", inDetail))
  }

  @Test func `several details of one application are merged in file order`() throws {
    let association = try association(
      """
      {"details": [{"appIDs": ["x", "org.example.Menu"], "components": [{"/": "/a", "exclude": true}]},
        {"appIDs": ["y"], "components": [{}]}, {"appID": "org.example.Menu", "components": [{}]}]}
      """)
    #expect(try !isIn("/a", association))
    #expect(try isIn("/b", association))
    #expect(association.verdict(on: try URI("https://example.com/"), for: { $0 == "z" }) == .unnamed)
  }

  @Test func `the verdict names the rule`() throws {
    let association = try appLinks(#"{"/": "/a", "exclude": true}, {"/": "/b"}"#)
    guard case .excluded(let rule) = association.verdict(on: try URI("https://example.com/a"), for: { _ in true })
    else { throw RigError("not excluded") }
    #expect(rule.location == "applinks.details[0].components[0]")
  }

  @Test(arguments: [
    ("org.example.Menu", true), ("org.example.Menu.desktop", true), ("ABCDE12345.org.example.Menu", true),
    ("ABCDE1234.org.example.Menu", false), ("ABCDE12345org.example.Menu", false), ("org.example", false),
    ("ABCDE12345.org.example.Menu.evil", false), ("*", false), ("", false),
  ])
  func `an app id with or without a team prefix means a desktop entry`(appID: String, expected: Bool) {
    #expect(AppSiteAssociation.appID(appID, means: "org.example.Menu.desktop") == expected)
  }

  @Test(arguments: [
    (#"{}"#, #"1:14: applinks: there is no "details""#),
    (#"{"details": 1}"#, "1:26: applinks.details: it is not a list"),
    ("{\n \"details\": 1}", "2:13: applinks.details: it is not a list"),
    (#"{"é": 1, "details": 1}"#, "1:34: applinks.details: it is not a list"),
    (#"{"details": [{"components": []}]}"#, "1:27: applinks.details[0]: there is neither appIDs nor appID"),
    (#"{"details": [{"appIDs": ["a"]}]}"#, "1:27: applinks.details[0]: there are neither components nor paths"),
    (#"{"details": [{"appIDs": [7]}]}"#, "1:39: applinks.details[0].appIDs[0]: it is not a text"),
    (
      #"{"details": [{"appIDs": ["a"], "components": [{}, {"/": 7}]}]}"#,
      #"1:70: applinks.details[0].components[1]."/": it is not a text"#
    ),
    (
      #"{"details": [{"appIDs": ["a"], "components": [{"exclude": "yes"}]}]}"#,
      "1:72: applinks.details[0].components[0].exclude: it is neither true nor false"
    ),
    (
      #"{"details": [{"appIDs": ["a"], "components": [{"?": {"a": 1}}]}]}"#,
      #"1:72: applinks.details[0].components[0]."?".a: it is not a text"#
    ),
    (
      #"{"details": [{"appIDs": ["a"], "components": [{"?": null}]}]}"#,
      #"1:66: applinks.details[0].components[0]."?": it is neither a text nor an object"#
    ),
    (
      #"{"details": [{"appIDs": ["a"], "components": [{"/": "/$(x)"}]}]}"#,
      #"1:66: applinks.details[0].components[0]."/": there is no substitution variable "x""#
    ),
    (
      #"{"details": [], "substitutionVariables": {"a": ["$(b)"]}}"#,
      "1:61: applinks.substitutionVariables.a: a variable's value cannot hold another variable"
    ),
  ])
  func `an error names line, column and location`(applinks: String, expected: String) {
    let error = #expect(throws: AssociationError.self) { try association(applinks) }
    #expect(error?.description == expected)
  }

  @Test func `unknown members and patterns that can never match are reported, up to 20`() throws {
    let association = try appLinks(
      #"{"/": "/a", "exlude": true, "comment": "nothing"}"#, rest: #", "default": {"caseSensitive": false}"#)
    #expect(
      association.remarks.map(\.description) == [
        "1:140: applinks.default: a member of this name means nothing here",
        "1:97: applinks.details[0].components[0].exlude: a member of this name means nothing here",
      ])
    #expect(
      try appLinks(#"{"/": "/é"}, {"/": "/é", "percentEncoded": false}, {"?": {"a": "b c"}}"#).remarks.map(\.location)
        == [#"applinks.details[0].components[0]."/""#, #"applinks.details[0].components[2]."?".a"#])
    let many = (0..<500).map { #""x\#($0)": 1"# }.joined(separator: ", ")
    #expect(try appLinks("{\(many)}").remarks.count == 20)
  }

  @Test func `defaults may contain every setting that a component may contain`() throws {
    let association = try association(
      """
      {"details": [{"appIDs": ["org.example.Menu"], "defaults": {"/": "/menu/*"},
        "components": [{"?": {"draft": "1"}}, {"/": "/", "exclude": false}]}], "defaults": {"exclude": true, "#": "x"}}
      """)
    #expect(try !isIn("/menu/1?draft=1#x", association))
    #expect(try isIn("/#x", association))
    #expect(try !isIn("/#y", association))
    #expect(try !isIn("/menu/1", association))
  }

  @Test func `a file with patterns over the cost limit is rejected`() throws {
    let long = String(repeating: "*a", count: 6_000)
    #expect(throws: AssociationError.self) {
      try appLinks(
        Array(repeating: "{}", count: 10_000).joined(separator: ","), rest: #", "defaults": {"/": "\#(long)"}"#)
    }
    #expect(throws: AssociationError.self) {
      try appLinks(
        #"{"/": "\#(String(repeating: "$(v)", count: 3_000))"}"#,
        rest: #", "substitutionVariables": {"v": [\#(Array(repeating: "\"\"", count: 10_000).joined(separator: ","))]}"#
      )
    }
  }

  @Test func `reading stops at the first pattern over the cost limit, even within a rule`() throws {
    let value = String(repeating: "a", count: 10_000)
    let items = (0..<2_000).map { #""i\#($0)": "$(v)""# }.joined(separator: ", ")
    let error = #expect(throws: AssociationError.self) {
      try appLinks(#"{"?": {\#(items)}}"#, rest: #", "substitutionVariables": {"v": ["\#(value)"]}"#)
    }
    #expect(error?.location == #"applinks.details[0].components[0]."?".i26"#)
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{\"applinks\": {\"details\": [}}", String(repeating: "[", count: 100_000),
    #"{"applinks": {"details": []}}"# + String(repeating: " ", count: AppSiteAssociation.maximumSize),
  ])
  func `a malformed file, or one over the size limit, is rejected`(text: String) {
    #expect(throws: AssociationError.self) { try AppSiteAssociation(json: Array(text.utf8)) }
  }
}

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
