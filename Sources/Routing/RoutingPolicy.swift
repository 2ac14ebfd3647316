public import UniversalLinks

/// What the user's configuration and choices say about links, and what domains say.
public struct RoutingPolicy: Sendable {
  /// The schemes whose default application is offered where no handler claims the link.
  public static let defaultSchemes: Set<String> = ["geo", "http", "https", "mailto", "sms", "tel"]

  /// The schemes whose default application is offered, lower-case.
  public var schemes: Set<String>
  /// Whether the URI of a Smart Poster counts where a message has no URI record at its top level.
  public var smartPosters: Bool
  /// What domains say of applications, by domain: a handler that its domain vouches for is trusted with that link.
  public var associations: [String: DomainAssociation]
  /// What the user has chosen about handlers.
  public var choices: HandlerChoices

  /// - Parameters:
  ///   - schemes: the schemes whose default application is offered, lower-case.
  ///   - smartPosters: whether the URI of a Smart Poster counts.
  ///   - associations: what domains say of applications, by domain.
  ///   - choices: what the user has chosen about handlers.
  public init(
    schemes: Set<String> = RoutingPolicy.defaultSchemes, smartPosters: Bool = true,
    associations: [String: DomainAssociation] = [:], choices: HandlerChoices = HandlerChoices()
  ) {
    self.schemes = schemes
    self.smartPosters = smartPosters
    self.associations = associations
    self.choices = choices
  }
}
