import UniversalLinks

/// A file in which a domain names the applications that may open its links.
package enum AssociationDocument: String, Sendable, Hashable, CaseIterable {
  /// Apple, "Supporting associated domains".
  case appSiteAssociation = "apple-app-site-association"
  /// Google, "Digital Asset Links", with the targets that ``AssetLinks`` documents.
  case assetLinks = "assetlinks.json"

  /// Its path on the domain (RFC 8615).
  package var path: String { "/.well-known/\(rawValue)" }

  /// The error in a file; nil if the file is valid.
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
