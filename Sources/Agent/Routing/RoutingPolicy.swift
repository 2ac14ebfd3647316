package import UniversalLinks

/// The user's configuration and choices about links, and the statements of domains.
package struct RoutingPolicy: Sendable {
  /// The default value of ``schemes``.
  package static let defaultSchemes: Set<String> = ["geo", "http", "https", "mailto", "sms", "tel"]

  /// The schemes, in lower case, of links that may open in the default application. It is offered if no handler claims
  /// the link, and as the alternative to a handler.
  package var schemes: Set<String>
  /// Whether the URI of a Smart Poster is used if a message has no URI record at its top level.
  package var smartPosters: Bool
  /// Whether a tag without a message is shown if no rule decides about it. No decision about a link depends on it.
  package var showsBareTags: Bool
  /// The statements of domains about applications, by domain. A handler is trusted with a link if the domain vouches
  /// for it.
  package var associations: [String: DomainAssociation]
  /// The user's choices about handlers.
  package var choices: HandlerChoices

  /// By default, no domain has made a statement and the user has made no choice.
  package init(
    schemes: Set<String> = RoutingPolicy.defaultSchemes, smartPosters: Bool = true, showsBareTags: Bool = false,
    associations: [String: DomainAssociation] = [:], choices: HandlerChoices = HandlerChoices()
  ) {
    self.schemes = schemes
    self.smartPosters = smartPosters
    self.showsBareTags = showsBareTags
    self.associations = associations
    self.choices = choices
  }
}
