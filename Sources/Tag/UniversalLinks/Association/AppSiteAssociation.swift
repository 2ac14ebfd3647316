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
