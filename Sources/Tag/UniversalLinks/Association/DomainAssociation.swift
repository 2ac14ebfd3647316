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

/// The links of a domain that applications want, from an apple-app-site-association file.
///
/// Only the `applinks` part of the file is used. (Apple, "Supporting associated domains".)
public struct AppSiteAssociation: Sendable, Hashable {
  /// The rules of the file for one or more applications.
  public struct Detail: Sendable, Hashable {
    /// The ids of the applications, as written in the file.
    public let appIDs: [String]
    /// In order: the first rule that covers a link decides.
    public let rules: [LinkRule]
  }

  /// The decision of the rules about one link.
  public enum Verdict: Sendable, Hashable {
    /// This rule admits the link.
    case matched(LinkRule)
    /// This rule excludes the link.
    case excluded(LinkRule)
    /// No rule covers the link. No rule ever covers a path with dot segments such as `..`.
    case unmatched
    /// The file does not name the application.
    case unnamed
    /// Trying the rules takes more steps than are allowed (`LinkMatching`), so their decision is unknown.
    case undecided
  }

  /// In the order of the file.
  public let details: [Detail]
  /// Parts of the file that have no effect, with their location, for the file's author. At most 20.
  public let remarks: [AssociationError]

  /// Decides about one link. To try one link on several files, use `LinkMatching`, which takes fewer steps.
  ///
  /// If several details name the application, their rules form one list, in the order of the file.
  ///
  /// - Parameters:
  ///   - uri: the link. Its domain is ignored.
  ///   - isApplication: whether an id in the file is the application's.
  /// - Returns: the decision of the first rule that covers the link.
  public func verdict(on uri: URI, for isApplication: (String) -> Bool) -> Verdict {
    var matching = LinkMatching(uri)
    return matching.verdict(of: self, for: isApplication)
  }

  /// The part of the file that is about some applications.
  ///
  /// - Parameter isApplication: whether an id in the file is one of theirs.
  /// - Returns: the details that name one of them, without the remarks.
  public func limited(to isApplication: (String) -> Bool) -> AppSiteAssociation {
    let own = details.compactMap { detail -> Detail? in
      let ids = detail.appIDs.filter(isApplication)
      return ids.isEmpty ? nil : Detail(appIDs: ids, rules: detail.rules)
    }
    return AppSiteAssociation(details: own, remarks: [])
  }

  init(details: [Detail], remarks: [AssociationError]) {
    self.details = details
    self.remarks = remarks
  }

  /// The maximum cost of trying all rules on a link, for each character of the link. Memory use is in proportion to it.
  public var cost: Int { details.reduce(0) { $0 + 1 + $1.appIDs.count + $1.rules.reduce(0) { $0 + $1.cost } } }

  /// Whether an id in an association file means the application with this desktop file id. The file may omit
  /// `.desktop`, and may have Apple's form: a prefix of ten letters and digits, a dot and the id.
  ///
  /// Only for rules that an application ships itself. For files from a domain, use `appID(_:names:)`.
  public static func appID(_ appID: String, means desktopID: String) -> Bool {
    if Self.appID(appID, names: desktopID) { return true }
    let prefix = appID.utf8.prefix(10)
    guard prefix.count == 10, prefix.allSatisfy({ CharacterClasses.isAlpha($0) || CharacterClasses.isDigit($0) }),
      appID.utf8.dropFirst(10).first == UInt8(ascii: ".")
    else { return false }
    return Self.appID(String(appID.dropFirst(11)), names: desktopID)
  }

  /// Whether an id in an association file is the desktop file id itself, with or without `.desktop`.
  ///
  /// A domain that publishes an id with a team prefix means an iPhone application by the owner of the prefix. Any
  /// desktop entry can use the rest of that id.
  public static func appID(_ appID: String, names desktopID: String) -> Bool {
    let plain = desktopID.hasSuffix(".desktop") ? String(desktopID.dropLast(8)) : desktopID
    return appID.utf8.elementsEqual(plain.utf8) || appID.utf8.elementsEqual((plain + ".desktop").utf8)
  }
}

/// The applications that may open all links of a domain, from its assetlinks.json.
///
/// A list of statements (Google, "Digital Asset Links: Statement list syntax"). Only statements with the relation
/// `delegate_permission/common.handle_all_urls` and a target in the namespace `linux_app` are used. This project
/// defined that namespace. The published ones name web sites, and Android packages by their signing certificate, which
/// a desktop entry does not have.
///
///     [{"relation": ["delegate_permission/common.handle_all_urls"],
///       "target": {"namespace": "linux_app", "desktop_id": "org.example.Menu"}}]
///
/// Statements about other targets are ignored. So is `include`: its file would have to be fetched from elsewhere.
public struct AssetLinks: Sendable, Hashable {
  /// The relation that lets an application open links.
  public static let relation = "delegate_permission/common.handle_all_urls"
  /// The namespace of targets that are desktop entries.
  public static let namespace = "linux_app"

  /// The `desktop_id` of each statement that is used, in the order of the file, with or without `.desktop`.
  public let desktopIDs: [String]

  /// Reads a file. One error anywhere rejects the whole file.
  ///
  /// - Parameter json: the file in UTF-8, at most `AppSiteAssociation.maximumSize` bytes.
  /// - Throws: `AssociationError` with line, column and location.
  public init(json: [UInt8]) throws(AssociationError) {
    let root = try AssociationNode.root(of: json)
    var found: [String] = []
    for statement in try root.elements() {
      let members = try statement.members()
      guard !members.contains(where: { $0.name == "include" }) else { continue }
      guard let relation = members.first(where: { $0.name == "relation" })?.node else {
        throw statement.error("there is no \"relation\"")
      }
      guard let target = members.first(where: { $0.name == "target" })?.node else {
        throw statement.error("there is no \"target\"")
      }
      let relations = try relation.texts()
      let values = try target.members()
      guard let namespace = values.first(where: { $0.name == "namespace" })?.node else {
        throw target.error("there is no \"namespace\"")
      }
      guard try namespace.text() == Self.namespace, relations.contains(Self.relation) else { continue }
      guard let desktopID = values.first(where: { $0.name == "desktop_id" })?.node else {
        throw target.error("there is no \"desktop_id\"")
      }
      found.append(try desktopID.text())
    }
    desktopIDs = found
  }

  /// The part of the file that is about some applications.
  ///
  /// - Parameter ids: the desktop file ids of the applications, with `.desktop`.
  /// - Returns: the statements that name one of them.
  public func limited(to ids: Set<String>) -> AssetLinks {
    AssetLinks(desktopIDs: desktopIDs.filter { ids.contains($0.hasSuffix(".desktop") ? $0 : $0 + ".desktop") })
  }

  private init(desktopIDs: [String]) { self.desktopIDs = desktopIDs }

  /// Whether a statement names the application with this desktop file id.
  public func names(_ desktopID: String) -> Bool {
    let plain = desktopID.hasSuffix(".desktop") ? String(desktopID.dropLast(8)) : desktopID
    return desktopIDs.contains { $0 == plain || $0 == plain + ".desktop" }
  }
}
