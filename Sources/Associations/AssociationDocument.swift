import UniversalLinks

/// A file in which a domain says what applications may open its links.
public enum AssociationDocument: String, Sendable, Hashable, CaseIterable {
  /// Apple, "Supporting associated domains".
  case appSiteAssociation = "apple-app-site-association"
  /// Google, "Digital Asset Links", with the targets that ``AssetLinks`` documents.
  case assetLinks = "assetlinks.json"

  /// Where it is, below the domain (RFC 8615).
  public var path: String { "/.well-known/\(rawValue)" }

  /// What is wrong with a file; nil where it is one.
  func mistake(in file: [UInt8]) -> AssociationError? {
    do throws(AssociationError) {
      switch self {
      case .appSiteAssociation: _ = try AppSiteAssociation(json: file)
      case .assetLinks: _ = try AssetLinks(json: file)
      }
      return nil
    } catch {
      return error
    }
  }
}
