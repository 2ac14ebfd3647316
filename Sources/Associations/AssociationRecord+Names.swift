import UniversalLinks

extension AssociationRecord {
  /// Whether the last answer names an application and is still valid.
  ///
  /// - Parameters:
  ///   - desktopID: the application's desktop file id.
  ///   - document: the document that the record is about.
  ///   - now: the time, in seconds since 1970.
  /// - Returns: true if the answer names it for at least some links.
  public func names(_ desktopID: String, in document: AssociationDocument, at now: Int64) -> Bool {
    guard case .file(let file)? = current(at: now) else { return false }
    switch document {
    case .appSiteAssociation: return (try? AppSiteAssociation(json: file))?.names(desktopID) == true
    case .assetLinks: return (try? AssetLinks(json: file))?.names(desktopID) == true
    }
  }
}
