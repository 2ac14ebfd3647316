import UniversalLinks

extension AssociationRecord {
  /// Whether the last answer of the domain for this document names an application for at least some links, and is still
  /// valid at `now`, in seconds since 1970.
  package func names(_ desktopID: String, in document: AssociationDocument, at now: Int64) -> Bool {
    guard case .file(let file)? = current(at: now) else { return false }
    switch document {
    case .appSiteAssociation: return (try? AppSiteAssociation(json: file))?.names(desktopID) == true
    case .assetLinks: return (try? AssetLinks(json: file))?.names(desktopID) == true
    }
  }
}
