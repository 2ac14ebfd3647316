/// What a domain says about applications, in either of the files that it may publish.
public struct DomainAssociation: Sendable, Hashable {
  /// Its apple-app-site-association file; nil where it has none.
  public var appLinks: AppSiteAssociation?
  /// Its assetlinks.json; nil where it has none.
  public var assetLinks: AssetLinks?

  /// Whether nobody knows if it has an apple-app-site-association file: it was not asked, or has not answered.
  public var appLinksAreUnknown: Bool

  /// - Parameters:
  ///   - appLinks: its apple-app-site-association file.
  ///   - assetLinks: its assetlinks.json.
  ///   - appLinksAreUnknown: whether nobody knows if it has an apple-app-site-association file.
  public init(
    appLinks: AppSiteAssociation? = nil, assetLinks: AssetLinks? = nil, appLinksAreUnknown: Bool = false
  ) {
    self.appLinks = appLinks
    self.assetLinks = assetLinks
    self.appLinksAreUnknown = appLinksAreUnknown
  }

  /// Whether the domain names the application with this desktop file id, for some of its links at least.
  ///
  /// assetlinks.json counts where the other file does not name the application, which it might where it is unknown.
  public func names(_ desktopID: String) -> Bool {
    if let appLinks, appLinks.mentions(desktopID) { return appLinks.names(desktopID) }
    return !appLinksAreUnknown && assetLinks?.names(desktopID) == true
  }

  /// Whether the domain lets the application open this link.
  ///
  /// Where its apple-app-site-association file names the application, the rules there decide; they say more than the other
  /// file can. So where nobody knows whether it has such a file, the other does not count: what it lets in could be kept out.
  ///
  /// - Parameters:
  ///   - desktopID: the desktop file id.
  ///   - uri: the link; its domain is not looked at.
  /// - Returns: whether it does. Not, where trying the rules takes too many steps (`LinkMatching`).
  public func vouches(for desktopID: String, on uri: URI) -> Bool {
    var matching = LinkMatching(uri)
    return vouches(for: desktopID, &matching)
  }

  /// Whether the domain lets the application open this link, where that is asked of several applications.
  public func vouches(for desktopID: String, _ matching: inout LinkMatching) -> Bool {
    switch appLinks.map({ matching.verdict(of: $0) { AppSiteAssociation.appID($0, names: desktopID) } }) {
    case .matched?: true
    case .excluded?, .unmatched?, .undecided?: false
    case .unnamed?, nil: !appLinksAreUnknown && assetLinks?.names(desktopID) == true
    }
  }
}

extension AppSiteAssociation {
  /// Whether the file lets the application with this desktop file id open some links at least. Ids with a team prefix do not
  /// count (`appID(_:names:)`), and where there are no rules but exclusions there are no links.
  public func names(_ desktopID: String) -> Bool {
    details.contains { detail in
      detail.appIDs.contains { Self.appID($0, names: desktopID) } && detail.rules.contains { !$0.isExclusion }
    }
  }

  /// Whether the file says anything about the application, be it that no link is its.
  func mentions(_ desktopID: String) -> Bool {
    details.contains { $0.appIDs.contains { Self.appID($0, names: desktopID) } }
  }
}
