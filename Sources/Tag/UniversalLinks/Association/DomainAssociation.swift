/// A domain's statements about applications, from the two files that it may publish.
public struct DomainAssociation: Sendable, Hashable {
  /// The domain's apple-app-site-association file; nil if it has none, or if that is unknown.
  public var appLinks: AppSiteAssociation?
  /// The domain's assetlinks.json; nil if it has none.
  public var assetLinks: AssetLinks?

  /// Whether it is unknown if the domain has an apple-app-site-association file: it was not asked, or has not answered.
  public var appLinksAreUnknown: Bool

  /// - Parameters:
  ///   - appLinks: the domain's apple-app-site-association file.
  ///   - assetLinks: the domain's assetlinks.json.
  ///   - appLinksAreUnknown: whether it is unknown if the domain has an apple-app-site-association file.
  public init(
    appLinks: AppSiteAssociation? = nil, assetLinks: AssetLinks? = nil, appLinksAreUnknown: Bool = false
  ) {
    self.appLinks = appLinks
    self.assetLinks = assetLinks
    self.appLinksAreUnknown = appLinksAreUnknown
  }

  /// Whether the domain names the application with this desktop file id, for at least some of its links.
  ///
  /// assetlinks.json decides only if the other file does not name the application. If the other file is unknown, it
  /// might name it, and the answer is no.
  public func names(_ desktopID: String) -> Bool {
    if let appLinks, appLinks.mentions(desktopID) { return appLinks.names(desktopID) }
    return !appLinksAreUnknown && assetLinks?.names(desktopID) == true
  }

  /// Whether the domain lets the application open this link.
  ///
  /// If the apple-app-site-association file names the application, its rules decide, because they can say more than
  /// assetlinks.json. If it is unknown whether the domain has that file, assetlinks.json is ignored: the unknown file
  /// might exclude a link that assetlinks.json admits.
  ///
  /// - Parameters:
  ///   - desktopID: the desktop file id.
  ///   - uri: the link. Its domain is ignored.
  /// - Returns: whether it does. False if trying the rules takes too many steps (`LinkMatching`).
  public func vouches(for desktopID: String, on uri: URI) -> Bool {
    var matching = LinkMatching(uri)
    return vouches(for: desktopID, &matching)
  }

  /// Whether the domain lets the application open the link of `matching`, which serves several applications.
  public func vouches(for desktopID: String, _ matching: inout LinkMatching) -> Bool {
    switch appLinks.map({ matching.verdict(of: $0) { AppSiteAssociation.appID($0, names: desktopID) } }) {
    case .matched?: true
    case .excluded?, .unmatched?, .undecided?: false
    case .unnamed?, nil: !appLinksAreUnknown && assetLinks?.names(desktopID) == true
    }
  }
}

extension AppSiteAssociation {
  /// Whether the file lets the application with this desktop file id open at least some links. Ids with a team prefix
  /// are ignored (`appID(_:names:)`). Exclusions alone admit no links.
  public func names(_ desktopID: String) -> Bool {
    details.contains { detail in
      detail.appIDs.contains { Self.appID($0, names: desktopID) } && detail.rules.contains { !$0.isExclusion }
    }
  }

  /// Whether the file names the application, even if it admits no link.
  func mentions(_ desktopID: String) -> Bool {
    details.contains { $0.appIDs.contains { Self.appID($0, names: desktopID) } }
  }
}
