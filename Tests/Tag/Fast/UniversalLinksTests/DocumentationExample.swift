import UniversalLinks

/// The example of `docs/universal-links.md` and of the module's page. `DocumentationExampleTests` compares the pages
/// with this code.
func documentationExample(_ print: (Any) -> Void) throws {
  // A link, as a tag, a QR code or a person gives it. What is not well-formed is a URIError that says why.
  let uri = try URI("HTTPS://Menu.Example.com/table/7?lang=de")
  print(uri.string)  // https://menu.example.com/table/7?lang=de
  print(uri.linkDomain ?? "none")  // menu.example.com
  print(uri.display())  // menu.example.com/table/7?…

  // Who claims its domain: an exact claim comes first, then wildcards, the longest first.
  var claims = DomainTable<String>()
  claims.insert("org.example.Menu", for: try DomainPattern("menu.example.com"))
  claims.insert("org.example.Everything", for: try DomainPattern("*.example.com"))
  for match in claims.matches(for: "menu.example.com") {
    print("\(match.pattern): \(match.values)")
  }
  // menu.example.com: ["org.example.Menu"]
  // *.example.com: ["org.example.Everything"]

  // Which of the domain's links an application wants, as an apple-app-site-association file says it.
  let file = """
    {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.Menu"], "components": [
      {"/": "/table/*/bill", "exclude": true, "comment": "the bill is paid in the browser"},
      {"/": "/table/$(digit)"}]}]}}
    """
  let association = try AppSiteAssociation(json: Array(file.utf8))
  let verdict = association.verdict(on: uri) { AppSiteAssociation.appID($0, means: "org.example.Menu.desktop") }
  switch verdict {
  case .matched(let rule): print("opened, by \(rule.location)")
  case .excluded(let rule): print("left to the browser, by \(rule.location)")
  case .unmatched, .unnamed, .undecided: print("not wanted")
  }
  // opened, by applinks.details[0].components[1]
}
