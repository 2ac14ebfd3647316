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
