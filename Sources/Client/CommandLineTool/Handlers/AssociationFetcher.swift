package import Associations
import CCurl
import EventLoop
import Glibc
import UniversalLinks

/// Requests association documents from domains, over https with libcurl.
///
/// Each document takes one request to the domain itself.
/// - Redirects are not followed: otherwise control over a redirect would be enough to vouch for a handler.
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

    package init() {}
  }

  private let options: Options

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

/// One request. libcurl calls back on the thread that runs the request, and keeps no reference afterwards.
final class Transfer {
  /// The maximum size of all header fields of an answer together, in bytes.
  private static let maximumHeader = 64 * 1024
  /// Initialises libcurl once per process. Safe from any thread since libcurl 7.84.
  private static let isUsable = curl_global_init(CLong(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let url: String
  private let options: AssociationFetcher.Options
  private var body: [UInt8] = []
  private var headerCount = 0
  private var isTooLarge = false
  private var hasRefusedAddress = false
  private var hasTriedAddress = false

  init(_ url: String, _ options: AssociationFetcher.Options) {
    self.url = url
    self.options = options
  }

  /// Sends the request and waits for the answer.
  func run() -> FetchOutcome {
    guard Self.isUsable, let handle = curl_easy_init() else {
      return .failed(FetchFailure(.connection, "libcurl.so.4 cannot be used"))
    }
    defer { curl_easy_cleanup(handle) }
    let server = options.server.flatMap { curl_slist_append(nil, "::\($0)") }
    defer { curl_slist_free_all(server) }
    if let unknown = configure(handle, server) {
      return .failed(FetchFailure(.connection, "libcurl does not know its option \(unknown)"))
    }
    let result = withExtendedLifetime(self) { curl_easy_perform(handle) }
    guard result == CURLE_OK else { return .failed(failure(result)) }
    var status = 0
    tagroute_curl_response_code(handle, &status)
    return outcome(status: status, handle)
  }

  /// Returns the option that libcurl rejects, or nil. None may be skipped: each implements a promise of
  /// `AssociationFetcher`.
  private func configure(_ handle: UnsafeMutableRawPointer, _ server: UnsafeMutablePointer<curl_slist>?) -> String? {
    let longs: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_FOLLOWLOCATION, 0),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      (CURLOPT_SSL_VERIFYPEER, 1),
      (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)),
      (CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
      // HTTP/2 does not help with one small answer. Without it, the server can reach one parser less.
      (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
      (CURLOPT_HTTP09_ALLOWED, 0),
      (CURLOPT_CONNECTTIMEOUT_MS, options.connectLimit.milliseconds),
      (CURLOPT_TIMEOUT_MS, options.totalLimit.milliseconds),
      // Leaves a hanging resolver behind on its thread. Otherwise the time limits would not hold.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    for (option, value) in longs where tagroute_curl_set_long(handle, option, value) != CURLE_OK {
      return "\(option.rawValue)"
    }
    var texts: [(CURLoption, String?)] = [
      (CURLOPT_URL, url), (CURLOPT_PROTOCOLS_STR, "https"), (CURLOPT_PROXY, ""), (CURLOPT_USERAGENT, "Tagroute"),
    ]
    if let authorities = options.authorities { texts += [(CURLOPT_CAINFO, authorities), (CURLOPT_CAPATH, nil)] }
    for (option, value) in texts where tagroute_curl_set_text(handle, option, value) != CURLE_OK {
      return "\(option.rawValue)"
    }
    if let server, tagroute_curl_set_list(handle, CURLOPT_CONNECT_TO, server) != CURLE_OK { return "CONNECT_TO" }
    return connect(handle) ? nil : "of a callback"
  }

  /// Registers the callbacks of this transfer with libcurl.
  private func connect(_ handle: UnsafeMutableRawPointer) -> Bool {
    let context = Unmanaged.passUnretained(self).toOpaque()
    let receivers: [(CURLoption, CURLoption, curl_write_callback)] = [
      (
        CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA,
        { bytes, size, count, context in Transfer.of(context)?.take(bytes, size * count) == true ? size * count : 0 }
      ),
      (
        CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA,
        { _, size, count, context in Transfer.of(context)?.takeHeader(size * count) == true ? size * count : 0 }
      ),
    ]
    for (option, data, callback) in receivers {
      guard tagroute_curl_set_receiver(handle, option, callback) == CURLE_OK,
        tagroute_curl_set_pointer(handle, data, context) == CURLE_OK
      else { return false }
    }
    let opened = tagroute_curl_set_socket_opener(handle) { context, _, address in
      guard let transfer = Transfer.of(context), let address else { return CURL_SOCKET_BAD }
      return transfer.open(address)
    }
    return opened == CURLE_OK && tagroute_curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Returns false to abort the transfer.
  private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Bool {
    guard let bytes else { return count == 0 }
    guard count <= AppSiteAssociation.maximumSize - body.count else {
      isTooLarge = true
      return false
    }
    body += UnsafeRawBufferPointer(start: bytes, count: count)
    return true
  }

  private func takeHeader(_ count: Int) -> Bool {
    headerCount += count
    isTooLarge = headerCount > Self.maximumHeader
    return !isTooLarge
  }

  /// libcurl calls this with each address of the name, and connects to the address that is checked here. So a name that
  /// changes its address in between does not evade the check.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    guard options.allowsPrivateAddresses || isGlobal(address) else {
      hasRefusedAddress = true
      return CURL_SOCKET_BAD
    }
    hasTriedAddress = true
    let pointee = address.pointee
    return socket(pointee.family, pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), pointee.protocol)
  }

  private func isGlobal(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
    // libcurl reserves room for any address at `addr`, beyond the structure's end.
    let bytes = UnsafeRawBufferPointer(
      start: UnsafeRawPointer(address) + offset, count: Int(min(address.pointee.addrlen, 128)))
    switch address.pointee.family {
    case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
      return withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr) {
        InternetAddress.isGlobal(Array($0))
      }
    case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
      return withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
        InternetAddress.isGlobal(Array($0))
      }
    default: return false
    }
  }

  private func outcome(status: Int, _ handle: UnsafeMutableRawPointer) -> FetchOutcome {
    switch status {
    case 200:
      return .found(body, cacheControl: cacheControl(handle))
    case 404, 410: return .absent
    case 300..<400:
      return .failed(FetchFailure(.redirect, "the server redirects (status \(status)), which is not followed"))
    default: return .failed(FetchFailure(.status, "the server answers with status \(status)"))
    }
  }

  /// Joins several fields of one name into one list (RFC 9110, section 5.3). The limit for the header limits their
  /// number.
  private func cacheControl(_ handle: UnsafeMutableRawPointer) -> String? {
    var values: [String] = []
    var field: UnsafeMutablePointer<curl_header>?
    while curl_easy_header(handle, "Cache-Control", values.count, UInt32(CURLH_HEADER), -1, &field) == CURLHE_OK,
      let value = field?.pointee.value
    {
      values.append(String(cString: value))
    }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  private func failure(_ result: CURLcode) -> FetchFailure {
    // The fixed text for each code. libcurl's text for a single case could repeat data from the server.
    let words = String(cString: curl_easy_strerror(result))
    switch result {
    case CURLE_WRITE_ERROR where isTooLarge:
      return FetchFailure(.size, "the answer is larger than \(AppSiteAssociation.maximumSize / 1024) KiB")
    case _ where hasRefusedAddress && !hasTriedAddress:
      return FetchFailure(.refused, "its address is a private one, which is not asked")
    case CURLE_COULDNT_RESOLVE_HOST: return FetchFailure(.name, "the name has no address")
    case CURLE_COULDNT_CONNECT: return FetchFailure(.connection, "no connection to the server")
    case CURLE_OPERATION_TIMEDOUT: return FetchFailure(.timeout, "it took too long")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
      return FetchFailure(.certificate, "the server's certificate is not to be trusted: \(words)")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: return FetchFailure(.tls, "no TLS 1.2 with the server: \(words)")
    default: return FetchFailure(.transfer, "the answer is broken: \(words)")
    }
  }
}

extension Duration {
  /// At least 1, because libcurl takes 0 as no limit.
  fileprivate var milliseconds: Int {
    let (seconds, attoseconds) = components
    return max(1, Int(clamping: min(seconds, 86_400)) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}

/// Tells addresses on the Internet from those of this machine and its networks.
enum InternetAddress {
  /// IPv4 networks that are not globally reachable, or are not one host, as address and prefix length. (IANA IPv4
  /// Special-Purpose Address Registry, RFC 6890; multicast, RFC 5771.)
  private static let specialIPv4: [(UInt32, UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
    (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xC633_6400, 24),
    (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  /// Whether an address of 4 or 16 bytes, in network order, is a host that anyone on the Internet can reach.
  static func isGlobal(_ address: [UInt8]) -> Bool {
    switch address.count {
    case 4:
      let value = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return !specialIPv4.contains { value >> (32 - $0.1) == $0.0 >> (32 - $0.1) }
    case 16:
      // Networks that reach IPv4 only through a translator put IPv4 addresses into this prefix (RFC 6052).
      if address.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
        return isGlobal(Array(address.suffix(4)))
      }
      // Only 2000::/3 is global unicast (IANA IPv6 Special-Purpose Address Registry). Of that, these are not global:
      // protocol assignments and Teredo (2001::/23), documentation (2001:db8::/32, 3fff::/20) and 6to4 (2002::/16),
      // which hides IPv4 addresses.
      guard address[0] & 0xE0 == 0x20 else { return false }
      if address[0] == 0x20, address[1] == 0x01 {
        return address[2] >= 0x02 && !(address[2] == 0x0D && address[3] == 0xB8)
      }
      if address[0] == 0x20, address[1] == 0x02 { return false }
      return !(address[0] == 0x3F && address[1] == 0xFF && address[2] & 0xF0 == 0)
    default: return false
    }
  }
}
