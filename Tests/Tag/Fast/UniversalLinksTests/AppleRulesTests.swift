import Rig
import Testing
import UniversalLinks

/// A rule that Apple documents, with its source.
struct AppleRule: Sendable, CustomTestStringConvertible {
  let source: String
  let applinks: String
  /// The part of each link after the host, and whether `ABCDE12345.com.example.app` opens the link.
  let links: [(String, Bool)]

  var testDescription: String { source }

  /// One application with these components.
  static func components(_ source: String, _ components: String, rest: String = "", _ links: [(String, Bool)]) -> Self {
    AppleRule(
      source: source,
      applinks: #""details": [{"appIDs": ["ABCDE12345.com.example.app"], "components": [\#(components)]}]\#(rest)"#,
      links: links)
  }

  /// One application with these paths.
  static func paths(_ source: String, _ paths: String, _ links: [(String, Bool)]) -> Self {
    AppleRule(
      source: source,
      applinks: #""apps": [], "details": [{"appID": "ABCDE12345.com.example.app", "paths": [\#(paths)]}]"#, links: links
    )
  }
}

@Suite struct AppleRulesTests {
  static let rules: [AppleRule] = [
    .components(
      "Supporting associated domains, example",
      """
      {"#": "no_universal_links", "exclude": true, "comment": "whatever path"},
      {"/": "/buy/*"},
      {"/": "/help/website/*", "exclude": true},
      {"/": "/help/*", "?": {"articleNumber": "????"}}
      """,
      [
        ("/buy/shoes", true), ("/buy/shoes#no_universal_links", false), ("/buy/", true), ("/buy", false),
        ("/help/website/search", false), ("/help/website/x?articleNumber=1234", false),
        ("/help/?articleNumber=1234", true), ("/help/?articleNumber=12345", false), ("/help/", false), ("/", false),
        ("/buy/shoes#other", true), ("/help/x?a=b&articleNumber=1234", true), ("/Buy/shoes", false),
      ]),
    .components("applinks.Details.Components, defaults of / ? #", "{}", [("", true), ("/any?thing#else", true)]),
    .components(
      "applinks.Details.Components, first match wins", #"{"/": "/a/b"}, {"/": "/a/*", "exclude": true}, {"/": "*"}"#,
      [("/a/b", true), ("/a/c", false), ("/b", true)]),
    .components(
      "applinks.Details.Components, wildcards", #"{"/": "/a/*/c"}, {"/": "/b/?*"}, {"/": "/d?"}"#,
      [
        ("/a/b/c", true), ("/a/b/b/c", true), ("/a//c", true), ("/a/c", false), ("/b/x", true), ("/b/", false),
        ("/d1", true), ("/d", false), ("/d12", false),
      ]),
    .components(
      "applinks.Details.Components, every part that is named has to match", ##"{"/": "/a", "?": "b=1", "#": "c"}"##,
      [("/a?b=1#c", true), ("/a?b=1", false), ("/a#c", false), ("/x?b=1#c", false)]),
    .components(
      "applinks.Details.Components.Query, example", #"{"?": {"productID": "12345"}}"#,
      [("/x?productID=12345", true), ("/x?productID=1234", false), ("/x?productid=12345", false), ("/x", false)]),
    .components(
      "WWDC19-717, two query items", #"{"/": "/help/*", "?": {"articleNumber": "????", "articleName": "?*"}}"#,
      [
        ("/help/?articleName=a&articleNumber=1234", true), ("/help/?articleNumber=1234", false),
        ("/help/?articleNumber=1234&articleName=", false),
      ]),
    .components(
      "WWDC19-717, every instance of a query item has to match", #"{"?": {"n": "?"}}"#,
      [("/?n=1&n=2", true), ("/?n=1&n=22", false), ("/?n=1&m=22", true)]),
    .components(
      "WWDC19-717, a missing value or item is the empty string", #"{"?": {"n": "*", "m": ""}}"#,
      [("/", true), ("/?m", true), ("/?m=", true), ("/?m=1", false), ("/?n", true)]),
    AppleRule(
      source: "WWDC19-717, paths are ignored if there are components",
      applinks: #""details": [{"appID": "ABCDE12345.com.example.app", "paths": ["*"], "components": [{"/": "/a"}]}]"#,
      links: [("/a", true), ("/b", false)]),
    .components(
      "WWDC20-10098, caseSensitive", #"{"/": "/sourdough/?*", "caseSensitive": false}, {"/": "/Rye/?*"}"#,
      [("/SourDough/x", true), ("/sourdough/", false), ("/Rye/x", true), ("/rye/x", false)]),
    .components(
      "WWDC20-10098, percentEncoded", #"{"/": "/哈哈/?*", "percentEncoded": false}, {"/": "/%E5%91%B5/*"}"#,
      [
        ("/哈哈/1", true), ("/%E5%93%88%E5%93%88/1", true), ("/哈/1", false), ("/%E5%91%B5/", true), ("/%e5%91%b5/", true),
      ]),
    .components(
      "WWDC20-10098, substitution variables",
      #"{"/": "/$(lang)_CA/$(food)/", "exclude": true}, {"/": "/$(lang)_$(region)/$(food)/"}"#,
      rest: #", "substitutionVariables": {"food": ["burrito", "pizza", "sushi", "samosa"]}"#,
      [
        ("/en_US/pizza/", true), ("/fr_CA/pizza/", false), ("/en_US/soup/", false), ("/EN_US/pizza/", false),
        ("/en_XX/pizza/", false), ("/ja_JP/sushi/", true),
      ]),
    .components(
      "applinks.SubstitutionVariables, names", #"{"/": "/$(any name?*)"}, {"/": "/$(Food)"}"#,
      rest: #", "substitutionVariables": {"any name?*": ["a"], "Food": ["b"], "food": ["c"]}"#,
      [("/a", true), ("/b", true), ("/c", false)]),
    .components(
      "applinks.SubstitutionVariables, values", #"{"/": "/$(v)/end"}"#,
      rest: #", "substitutionVariables": {"v": ["x*", "?y", "Z"]}"#,
      [
        ("/x/end", true), ("/x1/2/end", true), ("/ay/end", true), ("/y/end", false), ("/Z/end", true),
        ("/z/end", false),
      ]),
    .components(
      "applinks.SubstitutionVariables, predefined",
      #"{"/": "/a$(alpha)"}, {"/": "/u$(upper)"}, {"/": "/l$(lower)"}, {"/": "/n$(alnum)"}, {"/": "/d$(digit)"}, {"/": "/x$(xdigit)"}"#,
      [
        ("/aZ", true), ("/az", true), ("/a1", false), ("/uZ", true), ("/uz", false), ("/lz", true), ("/lZ", false),
        ("/n1", true), ("/nz", true), ("/n-", false), ("/d9", true), ("/da", false), ("/xF", true), ("/xf", true),
        ("/xg", false), ("/a", false), ("/aab", false),
      ]),
    AppleRule(
      source: "applinks.Defaults, the more specific setting applies",
      applinks: """
        "defaults": {"caseSensitive": false, "percentEncoded": false},
        "details": [{"appIDs": ["ABCDE12345.com.example.app"], "defaults": {"caseSensitive": true},
          "components": [{"/": "/a"}, {"/": "/b", "caseSensitive": false}, {"/": "/é"}]}]
        """,
      links: [("/a", true), ("/A", false), ("/B", true), ("/%C3%A9", true)]),
    AppleRule(
      source: "applinks.Details, several applications",
      applinks: """
        "details": [{"appIDs": ["ABCDE12345.com.example.other", "ABCDE12345.com.example.app"], "components": [{"/": "/a"}]},
          {"appID": "ABCDE12345.com.example.other", "components": [{"/": "/b"}]}]
        """,
      links: [("/a", true), ("/b", false)]),
    .paths(
      "App Search Programming Guide, paths", #""/wwdc/news/", "/videos/wwdc/2015/*""#,
      [
        ("/wwdc/news/", true), ("/wwdc/news", false), ("/videos/wwdc/2015/101", true), ("/videos/wwdc/2014/101", false),
        ("/wwdc/news/?query#fragment", true), ("/WWDC/news/", false),
      ]),
    .paths(
      "App Search Programming Guide, NOT", #""/wwdc/news/", "NOT /videos/wwdc/2010/*", "/videos/wwdc/201?/*""#,
      [("/videos/wwdc/2010/1", false), ("/videos/wwdc/2011/1", true), ("/videos/wwdc/2021/1", false)]),
    .paths("App Search Programming Guide, the whole site", #""*""#, [("", true), ("/any", true)]),
    AppleRule(
      source: "WWDC15-509, details by application",
      applinks:
        #""apps": [], "details": {"ABCDE12345.com.example.app": {"paths": ["/wwdc/news/", "/videos/wwdc/2015/*"]}}"#,
      links: [("/wwdc/news/", true), ("/other", false)]),
  ]

  @Test(arguments: rules) func `each rule that Apple documents holds`(_ rule: AppleRule) throws {
    let association = try AppSiteAssociation(json: Array("{\"applinks\": {\(rule.applinks)}}".utf8))
    #expect(association.remarks.isEmpty)
    for (link, expected) in rule.links {
      let isOpened = association.opens(try URI("https://example.com" + link)) {
        AppSiteAssociation.appID($0, means: "com.example.app.desktop")
      }
      #expect(isOpened == expected, "\(link)")
    }
  }
}

/// The example on the pages compiles, and prints the output that the pages show.
@Suite struct DocumentationExampleTests {
  private static func lines(of path: String) throws -> [String] {
    String(decoding: try readFile("\(repositoryRoot)/\(path)"), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0) }
  }

  /// The body of `documentationExample`, read from its file.
  private static func example() throws -> [String] {
    try lines(of: "Tests/Tag/Fast/UniversalLinksTests/DocumentationExample.swift").drop { !$0.hasPrefix("func ") }
      .dropFirst()
      .prefix { $0 != "}" }.map { String($0.dropFirst(2)) }
  }

  @Test(arguments: ["docs/universal-links.md", "Sources/Tag/UniversalLinks/UniversalLinks.docc/UniversalLinks.md"])
  func `the page contains the example`(page: String) throws {
    let block = try Self.lines(of: page).drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
    #expect(Array(block) == ["import UniversalLinks", ""] + (try Self.example()))
  }

  @Test func `the example prints what its comments promise`() throws {
    var printed: [String] = []
    try documentationExample { printed.append("\($0)") }
    // The page shows the output in a comment after the call, or in comment lines below the loop or the switch.
    let promised = try Self.example().enumerated().flatMap { index, line -> [String] in
      if line.hasPrefix("print(") { return line.split(separator: "  // ").suffix(1).map { String($0) } }
      guard line.hasPrefix("// "), index > 0 else { return [] }
      return try Self.example()[..<index].last { !$0.hasPrefix("// ") } == "}" ? [String(line.dropFirst(3))] : []
    }
    #expect(printed == promised)
  }
}

/// A file that gives these components to one application.
func appLinks(
  _ components: String = "{}", for application: String = "org.example.Menu", rest: String = ""
) throws(AssociationError) -> AppSiteAssociation {
  let details = #"[{"appIDs": ["\#(application)"], "components": [\#(components)]}]"#
  return try AppSiteAssociation(json: Array(#"{"applinks": {"details": \#(details)\#(rest)}}"#.utf8))
}

extension AppSiteAssociation {
  /// Whether the first rule that covers the link lets the application open it.
  func opens(_ uri: URI, for isApplication: (String) -> Bool = { $0 == "org.example.Menu" }) -> Bool {
    if case .matched = verdict(on: uri, for: isApplication) { true } else { false }
  }
}
