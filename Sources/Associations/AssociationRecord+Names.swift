import UniversalLinks

extension AssociationRecord {
  /// Whether what counts of the last answer names an application.
  ///
  /// - Parameters:
  ///   - desktopID: the application's desktop file id.
  ///   - document: what the record is of.
  ///   - now: the time, in seconds since 1970.
  /// - Returns: whether it does, for some links at least.
  public func names(_ desktopID: String, in document: AssociationDocument, at now: Int64) -> Bool {
    guard case .file(let file)? = current(at: now) else { return false }
    switch document {
    case .appSiteAssociation: return (try? AppSiteAssociation(json: file))?.names(desktopID) == true
    case .assetLinks: return (try? AssetLinks(json: file))?.names(desktopID) == true
    }
  }
}
