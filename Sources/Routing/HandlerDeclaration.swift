public import UniversalLinks

/// What an application says it handles.
public struct HandlerDeclaration: Sendable, Hashable {
  /// The application.
  public let application: Application
  /// The domains whose http and https links it wants.
  public let domains: [DomainPattern]
  /// Other schemes it wants from tags, lower-case. http and https here mean nothing: those go by domain.
  public let schemes: [String]

  /// - Parameters:
  ///   - application: the application.
  ///   - domains: the domains whose http and https links it wants.
  ///   - schemes: other schemes it wants from tags, in any case.
  public init(application: Application, domains: [DomainPattern] = [], schemes: [String] = []) {
    self.application = application
    self.domains = domains
    self.schemes = schemes.map { $0.lowercased() }
  }
}
