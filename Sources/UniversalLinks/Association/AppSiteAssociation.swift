/// Which links of a domain an application wants, as an apple-app-site-association file says it.
///
/// The `applinks` part of that file; the others mean nothing here. (Apple, "Supporting associated domains".)
public struct AppSiteAssociation: Sendable, Hashable {
  /// What the file says to one or more applications.
  public struct Detail: Sendable, Hashable {
    /// The applications, as the file names them.
    public let appIDs: [String]
    /// In order: the first that covers a link decides.
    public let rules: [LinkRule]
  }

  /// What the rules come to for one link.
  public enum Verdict: Sendable, Hashable {
    /// This rule lets it in.
    case matched(LinkRule)
    /// This rule keeps it out.
    case excluded(LinkRule)
    /// No rule covers it, as none covers a path with dot segments, `..` for one.
    case unmatched
    /// The file does not name the application.
    case unnamed
    /// To try the rules takes more steps than are allowed (`LinkMatching`), so nobody knows what they say.
    case undecided
  }

  /// In the order of the file.
  public let details: [Detail]
  /// What the file says to no effect, with its place: for whoever writes it. At most 20.
  public let remarks: [AssociationError]

  /// Decides about one link. Where it is tried on several files, `LinkMatching` does so with less.
  ///
  /// Where several details name the application they are one list, in the order of the file.
  ///
  /// - Parameters:
  ///   - uri: the link; its domain is not looked at.
  ///   - isApplication: whether an id of the file is the application's.
  /// - Returns: what the first rule that covers the link says.
  public func verdict(on uri: URI, for isApplication: (String) -> Bool) -> Verdict {
    var matching = LinkMatching(uri)
    return matching.verdict(of: self, for: isApplication)
  }

  /// The file without what it says to others.
  ///
  /// - Parameter isApplication: whether an id of the file is the application's.
  /// - Returns: the details that name it, the remarks left out.
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

  /// What trying all rules on a link comes to at most, for each character of the link; and what keeping them takes.
  public var cost: Int { details.reduce(0) { $0 + 1 + $1.appIDs.count + $1.rules.reduce(0) { $0 + $1.cost } } }

  /// Whether an id of an association file means the application with this desktop file id: it is the id with or without
  /// `.desktop`, or Apple's form of it, a prefix of ten letters and digits, a dot and the id.
  ///
  /// For the rules that an application ships itself. Where a domain speaks, `appID(_:names:)` counts.
  public static func appID(_ appID: String, means desktopID: String) -> Bool {
    if Self.appID(appID, names: desktopID) { return true }
    let prefix = appID.utf8.prefix(10)
    guard prefix.count == 10, prefix.allSatisfy({ CharacterClasses.isAlpha($0) || CharacterClasses.isDigit($0) }),
      appID.utf8.dropFirst(10).first == UInt8(ascii: ".")
    else { return false }
    return Self.appID(String(appID.dropFirst(11)), names: desktopID)
  }

  /// Whether an id of an association file is the desktop file id itself, with or without `.desktop`.
  ///
  /// An id with a team prefix is one of Apple's: the domain that publishes it means an application for iPhones, made by whoever
  /// the prefix belongs to. Anybody can give a desktop entry the rest of that id.
  public static func appID(_ appID: String, names desktopID: String) -> Bool {
    let plain = desktopID.hasSuffix(".desktop") ? String(desktopID.dropLast(8)) : desktopID
    return appID.utf8.elementsEqual(plain.utf8) || appID.utf8.elementsEqual((plain + ".desktop").utf8)
  }
}
