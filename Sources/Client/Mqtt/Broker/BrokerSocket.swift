import CCurl
import EventLoop
import Glibc
import Settings

/// The connection to the broker, with or without TLS: libcurl resolves the name, connects and does TLS, and then only
/// passes bytes (CURLOPT_CONNECT_ONLY). Used by one thread.
final class BrokerSocket {
  /// The result of one look at the socket.
  enum Received {
    case bytes([UInt8])
    /// No more for now.
    case none
    case ended(BrokerEnding)
  }

  private static let isUsable: Bool = {
    // OpenSSL writes to a socket that the broker may have closed. This program starts no other that would inherit it.
    signal(SIGPIPE, SIG_IGN)
    // Safe from any thread since libcurl 7.84.
    return curl_global_init(CLong(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()
  /// How long resolving, connecting and TLS may take together, in milliseconds.
  private static let connectLimit = 120_000

  private let identity: BrokerIdentity
  private let handle: UnsafeMutableRawPointer
  /// libcurl's last message.
  private let message: UnsafeMutablePointer<CChar>
  /// The bytes to send. OpenSSL needs the same bytes at the same address until it has taken them.
  private let chunk = UnsafeMutablePointer<UInt8>.allocate(capacity: chunkSize)
  private var unsent = 0..<0
  /// Whether the connection no longer takes bytes.
  private var isBroken = false
  private static let chunkSize = 16 * 1024

  /// Nil without libcurl, and without memory.
  init?(_ identity: BrokerIdentity) {
    guard Self.isUsable, let handle = curl_easy_init() else { return nil }
    self.identity = identity
    self.handle = handle
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(handle)
    message.deallocate()
    chunk.deallocate()
  }

  /// The descriptor to wait for; -1 without a connection.
  var descriptor: Int32 { tagroute_curl_active_socket(handle) }

  // MARK: Connecting

  /// Connects, which blocks. Returns why it cannot.
  func connect() -> BrokerEnding? {
    guard configure() else { return .unusable("libcurl does not take the settings") }
    let result = curl_easy_perform(handle)
    return result == CURLE_OK ? nil : ending(result)
  }

  private func configure() -> Bool {
    let longs: [(CURLoption, Int)] = [
      (CURLOPT_CONNECT_ONLY, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_CONNECTTIMEOUT_MS, Self.connectLimit),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      // The protocol in TLS is not HTTP.
      (CURLOPT_SSL_ENABLE_ALPN, 0),
      // Leaves a hanging resolver behind on its thread.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    let broker = identity.broker
    let host = broker.host.contains(":") ? "[\(broker.host)]" : broker.host
    var texts: [(CURLoption, String)] = [
      (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_PROXY, ""),
      (CURLOPT_URL, "\(broker.isEncrypted ? "https" : "http")://\(host):\(broker.port)/"),
    ]
    if broker.isEncrypted {
      texts += authorities
      if let file = identity.certificateFile { texts.append((CURLOPT_SSLCERT, file)) }
      // Without a password, OpenSSL would ask the terminal for that of an encrypted key.
      if let file = identity.keyFile { texts += [(CURLOPT_SSLKEY, file), (CURLOPT_KEYPASSWD, "")] }
    }
    return tagroute_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, message) == CURLE_OK
      && longs.allSatisfy { tagroute_curl_set_long(handle, $0, $1) == CURLE_OK }
      && texts.allSatisfy { tagroute_curl_set_text(handle, $0, $1) == CURLE_OK }
  }

  /// The authorities of `CAFile=`, else those of OpenSSL's variables, else libcurl's default: those of the system.
  private var authorities: [(CURLoption, String)] {
    let variables = identity.caFile == nil ? ProcessEnvironment.current : [:]
    let folder = variables["SSL_CERT_DIR"]
    guard let file = identity.caFile ?? variables["SSL_CERT_FILE"] else {
      return folder.map { [(CURLOPT_CAPATH, $0)] } ?? []
    }
    // Without this, Debian's libcurl also trusts all of /etc/ssl/certs.
    return [(CURLOPT_CAINFO, file), (CURLOPT_CAPATH, folder ?? "/dev/null")]
  }

  /// Why there is no connection.
  private func ending(_ result: CURLcode) -> BrokerEnding {
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST: return .unreachable("the name of the host is not known")
    case CURLE_OPERATION_TIMEDOUT: return .unreachable(String(cString: strerror(ETIMEDOUT)))
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: return .unusable(text)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION:
      return isCutOff ? .unanswered : .insecure(text)
    default:
      let number = tagroute_curl_os_error(handle)
      return .unreachable(number == 0 ? text : String(cString: strerror(Int32(truncatingIfNeeded: number))))
    }
  }

  /// Whether the broker, or the network, has cut the connection off in the middle of TLS, which is no refusal.
  private var isCutOff: Bool { ["unexpected eof", "SYSCALL", "reset by peer"].contains { text.contains($0) } }

  private var text: String { String(String(cString: message).prefix(200)) }

  // MARK: The connection

  /// Whether bytes wait for the broker to take them.
  var isSending: Bool { !unsent.isEmpty }

  /// Takes the first of these bytes, and sends as many as possible without waiting. Returns the number of those taken. A
  /// lost connection is what ``receive(isAnswered:)`` explains.
  func send(_ bytes: [UInt8]) -> Int {
    guard !isBroken else { return bytes.count }
    var taken = 0
    while true {
      if unsent.isEmpty {
        let count = min(Self.chunkSize, bytes.count - taken)
        guard count > 0 else { return taken }
        for index in 0..<count { chunk[index] = bytes[taken + index] }
        (unsent, taken) = (0..<count, taken + count)
      }
      var count = 0
      let result = curl_easy_send(handle, chunk + unsent.lowerBound, unsent.count, &count)
      guard result == CURLE_OK || result == CURLE_AGAIN else {
        // Nothing is left to wait for a place in the socket.
        (isBroken, unsent) = (true, 0..<0)
        return bytes.count
      }
      guard result == CURLE_OK, count > 0 else { return taken }
      unsent = unsent.lowerBound + count..<unsent.upperBound
    }
  }

  /// Receives the available bytes. `isAnswered`: the broker has answered to CONNECT.
  func receive(isAnswered: Bool) -> Received {
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    var count = 0
    message.pointee = 0
    let result = curl_easy_recv(handle, &bytes, bytes.count, &count)
    switch result {
    case CURLE_OK where count > 0: return .bytes(Array(bytes.prefix(count)))
    case CURLE_OK: return .ended(isAnswered ? .dropped : .unanswered)
    case CURLE_AGAIN: return .none
    default:
      // TLS 1.3 refuses a client's certificate only now. A reset is a close with something unread.
      if !isAnswered { return .ended(isCutOff || !identity.broker.isEncrypted ? .unanswered : .insecure(text)) }
      return .ended(.lost(text.isEmpty ? "no reason given" : text))
    }
  }
}
