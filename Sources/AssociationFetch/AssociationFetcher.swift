public import Associations
import EventLoop
import UniversalLinks

/// Asks domains for their association documents, by https and libcurl.
///
/// A question is one request to the domain itself. No redirect is followed, for else whoever may redirect could vouch; there
/// are no cookies, no passwords, none of `.netrc`, and no proxy, not even the environment's: it would resolve the name, and
/// nobody could tell whether the address is a private one. TLS is 1.2 at least, with the host's name and the chain checked. The
/// type of the content does not matter, as little as it does for Apple: the file has to be what it should be.
///
/// The domains are what desktop entries name, which any program of the user can write. So only addresses that are on the
/// Internet are connected to: whoever installs a handler must not make this machine probe its own network.
public struct AssociationFetcher: Sendable {
  /// What is asked, and how. Everything but the limits is for tests, and for trying a server that is not public yet.
  public struct Options: Sendable, Hashable {
    /// A PEM file with the only authorities that may sign; nil is those of the system.
    public var authorities: String?
    /// `address:port` of the server that stands for every domain. Certificates are checked as ever.
    public var server: String?
    /// Whether private addresses may be connected to.
    public var allowsPrivateAddresses = false
    /// For finding the address, connecting and agreeing on TLS.
    public var connectLimit = Duration.seconds(10)
    /// For all of a question.
    public var totalLimit = Duration.seconds(20)

    /// The system's authorities, the domain's own server, no private address, 10 and 20 seconds.
    public init() {}
  }

  private let options: Options

  /// - Parameter options: how domains are asked.
  public init(options: Options = Options()) { self.options = options }

  /// Asks a domain for a document, on a thread of its own.
  ///
  /// - Parameters:
  ///   - document: what to ask for.
  ///   - domain: the domain in IDNA form, as `DomainPattern.domain` has it.
  /// - Returns: what came of it, checked. It does not take much longer than `Options.totalLimit`.
  public func fetch(_ document: AssociationDocument, of domain: String) async -> FetchOutcome {
    if let refusal = Self.refusal(of: domain) { return .failed(FetchFailure(.refused, refusal)) }
    do throws(SystemError) {
      return try await DedicatedThread.run { [options] in
        Transfer("https://\(domain)\(document.path)", options).run().checked(as: document)
      }
    } catch {
      return .failed(FetchFailure(.connection, "\(error)"))
    }
  }

  /// Names that are not of the Internet, and so are looked for in the network around, or nowhere: RFC 6761 and 6762, 7686
  /// (onion), 8375 (home.arpa), and ICANN's resolution 2024.07.29.06 (internal).
  private static let specialNames = [
    "home.arpa", "internal", "invalid", "local", "localhost", "onion", "test",
  ]

  /// Why a domain is not asked; nil where it is.
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
