public import UniversalLinks

/// What the user's configuration says about links, and what domains say.
public struct RoutingPolicy: Sendable {
  /// The schemes whose default application is offered where no handler claims the link.
  public static let defaultSchemes: Set<String> = ["geo", "http", "https", "mailto", "sms", "tel"]

  /// The schemes whose default application is offered, lower-case.
  public var schemes: Set<String>
  /// Whether the URI of a Smart Poster counts where a message has no URI record at its top level.
  public var smartPosters: Bool
  /// What domains say of applications, by domain: a handler that its domain vouches for is trusted with that link.
  public var associations: [String: DomainAssociation]

  /// - Parameters:
  ///   - schemes: the schemes whose default application is offered, lower-case.
  ///   - smartPosters: whether the URI of a Smart Poster counts.
  ///   - associations: what domains say of applications, by domain.
  public init(
    schemes: Set<String> = RoutingPolicy.defaultSchemes, smartPosters: Bool = true,
    associations: [String: DomainAssociation] = [:]
  ) {
    self.schemes = schemes
    self.smartPosters = smartPosters
    self.associations = associations
  }
}
