package import Associations
import EventLoop
import UniversalLinks

/// Requests association documents from domains, over https with libcurl.
///
/// Each document takes one request to the domain itself.
/// - Redirects are not followed: otherwise anyone who can set a redirect could vouch for a handler.
/// - Cookies, passwords and `.netrc` are not used.
/// - No proxy is used, not even one from the environment. A proxy would resolve the name, so the address could not be
///   checked.
/// - TLS is at least 1.2. The host name and the certificate chain are checked.
/// - The content type is ignored, as Apple does. The file itself has to be valid.
///
/// The domains come from desktop entries, which any program of the user can write. So the fetcher connects only to
/// addresses on the Internet. An installed handler must not make this machine probe its own network.
package struct AssociationFetcher: Sendable {
  /// How domains are asked. All options but the limits are for tests, and for trying a server that is not public yet.
  package struct Options: Sendable, Hashable {
    /// A PEM file with the only certificate authorities to accept; nil for those of the system.
    package var authorities: String?
    /// `address:port` of a server to ask instead of every domain. Certificates are checked as usual.
    package var server: String?
    /// Whether private addresses may be connected to.
    package var allowsPrivateAddresses = false
    /// The time limit for resolving the name, connecting and the TLS handshake.
    package var connectLimit = Duration.seconds(10)
    /// The time limit for a whole request.
    package var totalLimit = Duration.seconds(20)

    /// The system's authorities, the domain's own server, no private addresses, limits of 10 and 20 seconds.
    package init() {}
  }

  private let options: Options

  /// Asks domains in this way.
  package init(options: Options = Options()) { self.options = options }

  /// Asks a domain in IDNA form, as in `DomainPattern.domain`, for a document, on a dedicated thread. The result is
  /// checked, and comes not much later than `Options.totalLimit`.
  package func fetch(_ document: AssociationDocument, of domain: String) async -> FetchOutcome {
    if let refusal = Self.refusal(of: domain) { return .failed(FetchFailure(.refused, refusal)) }
    do throws(SystemError) {
      return try await DedicatedThread.run { [options] in
        Transfer("https://\(domain)\(document.path)", options).run().checked(as: document)
      }
    } catch {
      return .failed(FetchFailure(.connection, "\(error)"))
    }
  }

  /// Names outside the public Internet, which the local network resolves or which do not resolve at all. Sources: RFC
  /// 6761 and 6762, 7686 (onion), 8375 (home.arpa), and ICANN's resolution 2024.07.29.06 (internal).
  private static let specialNames = [
    "home.arpa", "internal", "invalid", "local", "localhost", "onion", "test",
  ]

  /// Why a domain is not asked; nil if it is asked.
  static func refusal(of domain: String) -> String? {
    guard let pattern = try? DomainPattern(domain), !pattern.isWildcard, pattern.domain == domain else {
      return "it is not a domain name in ASCII"
    }
    guard domain.contains(".") else { return "a name without a dot is of no public domain" }
    if let name = specialNames.first(where: { domain == $0 || domain.hasSuffix("." + $0) }) {
      return "names in .\(name) are of no public domain"
    }
    return nil
  }
}
