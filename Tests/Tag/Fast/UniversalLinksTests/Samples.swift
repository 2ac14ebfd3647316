import UniversalLinks

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
