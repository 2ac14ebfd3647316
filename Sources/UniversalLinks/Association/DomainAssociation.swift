/// What a domain says about applications, in either of the files that it may publish.
public struct DomainAssociation: Sendable, Hashable {
  /// Its apple-app-site-association file; nil where it has none.
  public var appLinks: AppSiteAssociation?
  /// Its assetlinks.json; nil where it has none.
  public var assetLinks: AssetLinks?

  /// - Parameters:
  ///   - appLinks: its apple-app-site-association file.
  ///   - assetLinks: its assetlinks.json.
  public init(appLinks: AppSiteAssociation? = nil, assetLinks: AssetLinks? = nil) {
    self.appLinks = appLinks
    self.assetLinks = assetLinks
  }

  /// Whether either file names the application with this desktop file id, for some of the domain's links at least.
  public func names(_ desktopID: String) -> Bool {
    appLinks?.names(desktopID) == true || assetLinks?.names(desktopID) == true
  }

  /// Whether the domain lets the application open this link.
  ///
  /// Where its apple-app-site-association file names the application, the rules there decide; they say more than the other
  /// file can.
  ///
  /// - Parameters:
  ///   - desktopID: the desktop file id.
  ///   - uri: the link; its domain is not looked at.
  /// - Returns: whether it does.
  public func vouches(for desktopID: String, on uri: URI) -> Bool {
    switch appLinks?.verdict(on: uri, for: { AppSiteAssociation.appID($0, means: desktopID) }) {
    case .matched?: true
    case .excluded?, .unmatched?: false
    case .unnamed?, nil: assetLinks?.names(desktopID) == true
    }
  }
}

extension AppSiteAssociation {
  /// Whether the file names the application with this desktop file id.
  public func names(_ desktopID: String) -> Bool {
    details.contains { $0.appIDs.contains { Self.appID($0, means: desktopID) } }
  }
}
