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
    /// No rule covers it.
    case unmatched
    /// The file does not name the application.
    case unnamed
  }

  /// In the order of the file.
  public let details: [Detail]
  /// What the file says to no effect, with its place: for whoever writes it. At most 20.
  public let remarks: [AssociationError]

  /// Decides about one link.
  ///
  /// Where several details name the application they are one list, in the order of the file.
  ///
  /// - Parameters:
  ///   - uri: the link; its domain is not looked at.
  ///   - isApplication: whether an id of the file is the application's.
  /// - Returns: what the first rule that covers the link says.
  public func verdict(on uri: URI, for isApplication: (String) -> Bool) -> Verdict {
    var steps = 0
    return verdict(on: uri, steps: &steps, for: isApplication)
  }

  func verdict(on uri: URI, steps: inout Int, for isApplication: (String) -> Bool) -> Verdict {
    var parts: [LinkPattern.Comparison: LinkParts] = [:]
    var verdict = Verdict.unnamed
    for detail in details where detail.appIDs.contains(where: isApplication) {
      verdict = .unmatched
      for rule in detail.rules {
        let link = parts[rule.comparison] ?? LinkParts(uri, rule.comparison)
        parts[rule.comparison] = link
        if rule.covers(link, steps: &steps) { return rule.isExclusion ? .excluded(rule) : .matched(rule) }
      }
    }
    return verdict
  }

  /// Whether an id of an association file means the application with this desktop file id: it is the id with or without
  /// `.desktop`, or Apple's form of it, a prefix of ten letters and digits, a dot and the id.
  public static func appID(_ appID: String, means desktopID: String) -> Bool {
    let plain = desktopID.hasSuffix(".desktop") ? String(desktopID.dropLast(8)) : desktopID
    if appID == plain || appID == desktopID { return true }
    let prefix = appID.utf8.prefix(10)
    guard prefix.count == 10, prefix.allSatisfy({ CharacterClasses.isAlpha($0) || CharacterClasses.isDigit($0) }),
      appID.utf8.dropFirst(10).first == UInt8(ascii: ".")
    else { return false }
    let rest = appID.dropFirst(11)
    return rest == plain || rest == desktopID
  }
}
