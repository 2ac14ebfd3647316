import CMosquitto
import Configuration
import EventLoop
import Glibc

/// The thread of a ``BrokerLink``: one libmosquitto object, from its creation to its end.
///
/// What libmosquitto 2.0.11 does decides the following. The names in parentheses are its functions.
///
/// - Messages without a confirmation end with the object. libmosquitto's own repetition after a reconnection
///   (`message__reconnect_reset`, `message__retry_check`) is never used: the agent's list is the only queue.
/// - With `mosquitto_threaded_set`, no call writes to the socket at once (`packet__queue`). So a call to publish cannot
///   end the connection in the middle, and `mosquitto_loop` is the only function that does.
/// - `mosquitto_loop` waits for its own socket pair, not for a descriptor of ours. So this thread waits by itself, and
///   calls `mosquitto_loop` without a time-out when there is work. That also continues a TLS handshake, which
///   `mosquitto_loop_write` does not do.
/// - Callbacks run inside `mosquitto_loop`, with a mutex held (`connack_callback`, `handle__pubackcomp`). Here they
///   only report values.
/// - `mosquitto_new` ignores SIGPIPE in the process (`mosquitto.c`). No program is started by this one.
final class LinkRun {
  /// In seconds. The broker gives up a client after one and a half times this time.
  private static let keepAlive: Int32 = 30
  /// How long the broker keeps the session of a client that is gone, in seconds.
  private static let sessionExpiry: UInt32 = 86_400
  /// The largest message that the broker is asked to send, in bytes. The longest that we need is a command.
  /// libmosquitto allocates what a packet's length says (`packet__read`): against a broker that ignores this, only the
  /// unit's MemoryMax= helps.
  private static let maximumPacket: UInt32 = 64 * 1024
  private static let messagesPerSecond = 16
  /// In milliseconds. `mosquitto_loop` has to be called this often to keep the connection alive: it counts in seconds
  /// (`mosquitto__check_keepalive`).
  private static let longestWait: Int32 = 10_000
  /// How long DISCONNECT may take, in milliseconds.
  private static let longestFarewell: Int32 = 1000
  /// OpenSSL's directory of certificates, needed as an argument only: the system's own default is used in addition.
  private static let certificateDirectory = "/etc/ssl/certs"

  private static let library: Void = { _ = mosquitto_lib_init() }()

  private let link: BrokerLink
  private let identity: BrokerIdentity
  private let attempt: UInt64
  private let version: MqttVersion
  private let report: @Sendable (BrokerEvent) -> Void
  /// The numbers of messages without a confirmation.
  private var tokens: [Int32: UInt64] = [:]
  /// Whether there is a TCP connection. The answer to CONNECT may be missing.
  private var hasConnected = false
  /// The broker's answer to CONNECT.
  private var answer: Int32?
  private var disconnectCode: Int32?
  /// libmosquitto's first error message: OpenSSL's reasons are only there, and what follows is less exact.
  private var firstError = ""
  private var isLeaving = false
  private var subscriptions: Set<String> = []
  /// The topics of subscriptions without an answer, by the number of the request.
  private var subscribing: [Int32: String] = [:]
  /// How many messages came in the present second of the clock.
  private var arrivals = (second: 0, count: 0)

  init(
    _ link: BrokerLink, _ identity: BrokerIdentity, attempt: UInt64, _ version: MqttVersion,
    report: @escaping @Sendable (BrokerEvent) -> Void
  ) {
    (self.link, self.identity, self.attempt, self.version) = (link, identity, attempt, version)
    self.report = report
  }

  /// Returns when the connection has ended.
  func run() -> BrokerEnding {
    _ = Self.library
    let context = Unmanaged.passUnretained(self).toOpaque()
    // Without a clean session: the broker keeps the subscriptions.
    guard let client = mosquitto_new(identity.clientID, false, context) else { return .lost("out of memory") }
    // The callbacks have no other reference to this object.
    defer { withExtendedLifetime(self) { mosquitto_destroy(client) } }
    mosquitto_threaded_set(client, true)
    setCallbacks(client)
    return configure(client) ?? connect(client) ?? serve(client)
  }

  // MARK: Before the connection

  private func configure(_ client: OpaquePointer) -> BrokerEnding? {
    let protocolVersion = version == .five ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, protocolVersion)
    // A tap is a small packet that somebody waits for.
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
    let will = Array("offline".utf8)
    var results = [mosquitto_will_set(client, identity.stateTopic, Int32(will.count), will, 1, true)]
    if let user = identity.user {
      results.append(mosquitto_username_pw_set(client, user, identity.password))
    }
    guard results.allSatisfy({ $0 == Code.success }) else {
      return .unusable("libmosquitto does not take the settings")
    }
    return identity.broker.isEncrypted ? configureTLS(client) : nil
  }

  /// Verification is libmosquitto's default (`mosquitto__reinitialise`), with the host name
  /// (`mosquitto__server_certificate_verify`), and TLS 1.2 or later (`net__init_ssl_ctx`).
  private func configureTLS(_ client: OpaquePointer) -> BrokerEnding? {
    if identity.caFile == nil { mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
    guard identity.caFile != nil || identity.certificateFile != nil else { return nil }
    // One of the first two has to be named (`mosquitto_tls_set`). Without the function, OpenSSL would ask the terminal
    // for the password of an encrypted key.
    let result = mosquitto_tls_set(
      client, identity.caFile, identity.caFile == nil ? Self.certificateDirectory : nil, identity.certificateFile,
      identity.keyFile, { _, _, _, _ in 0 })
    return result == Code.success ? nil : .unusable("a file with a certificate or a key cannot be read")
  }

  private func connect(_ client: OpaquePointer) -> BrokerEnding? {
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    // MQTT 3.1.1 has no properties (`mosquitto__reconnect`).
    if version == .five {
      mosquitto_property_add_int32(
        &properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), Self.sessionExpiry)
      mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), Self.maximumPacket)
    }
    let result = mosquitto_connect_bind_v5(
      client, identity.broker.host, Int32(identity.broker.port), Self.keepAlive, nil, properties)
    return result == Code.success ? nil : ending(result, errno)
  }

  // MARK: The connection

  private func serve(_ client: OpaquePointer) -> BrokerEnding {
    hasConnected = true
    while true {
      for command in link.takeCommands() {
        switch command {
        case .publish(let publication):
          if let ending = publish(publication, client) { return ending }
        case .subscribe(let topics): for topic in topics { subscribe(topic, client) }
        case .close(gracefully: false): return .closed
        case .close(gracefully: true):
          guard mosquitto_disconnect_v5(client, 0, nil) == Code.success else { return .closed }
          isLeaving = true
        }
      }
      let result = mosquitto_loop(client, 0, 100)
      let number = errno
      // A DISCONNECT, of either side, closes the socket without an error (`do_client_disconnect`).
      guard result == Code.success, mosquitto_socket(client) >= 0 else { return ending(result, number) }
      guard wait(client) else { return .closed }
    }
  }

  /// Waits for the broker or for a command. False if the broker does not take the DISCONNECT.
  private func wait(_ client: OpaquePointer) -> Bool {
    let interest = POLLIN | (mosquitto_want_write(client) ? POLLOUT : 0)
    var entries = [
      pollfd(fd: mosquitto_socket(client), events: Int16(interest), revents: 0),
      pollfd(fd: link.woken.rawValue, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&entries, nfds_t(entries.count), isLeaving ? Self.longestFarewell : Self.longestWait)
    return !isLeaving || count > 0
  }

  private func publish(_ publication: Publication, _ client: OpaquePointer) -> BrokerEnding? {
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    if version == .five, let expiry = publication.expiry {
      mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), expiry)
    }
    var number: Int32 = 0
    func publish(_ payload: [UInt8]) -> Int32 {
      mosquitto_publish_v5(
        client, &number, publication.topic, Int32(payload.count), payload, publication.qos, publication.isRetained,
        properties)
    }
    var result = publish(publication.payload)
    if [Code.oversize, Code.payloadSize].contains(result) {
      // At once, so that the order is kept.
      if let shorter = publication.shorter { result = publish(shorter) }
      if publication.token != 0 {
        report(.tooLarge(attempt: attempt, token: publication.token, isShortened: result == Code.success))
      }
    }
    switch result {
    case Code.success:
      // The confirmation cannot have arrived yet: only `mosquitto_loop` reads.
      if publication.token != 0 { tokens[number] = publication.token }
      return nil
    case Code.oversize, Code.payloadSize: return nil
    case Code.qosNotSupported: return .notAccepted(topic: publication.topic, code: 0x9B)
    default: return ending(result, errno)
    }
  }

  /// QoS 0: the broker keeps the session, and would keep commands with QoS 1 for a station that is away. A command that
  /// is carried out an hour later is worse than one that is lost.
  private func subscribe(_ topic: String, _ client: OpaquePointer) {
    subscriptions.insert(topic)
    var number: Int32 = 0
    // After a failure, `mosquitto_loop` ends the connection.
    guard mosquitto_subscribe_v5(client, &number, topic, 0, 0, nil) == Code.success else { return }
    subscribing[number] = topic
  }

  /// `number` is the `errno` of the failed call.
  private func ending(_ result: Int32, _ number: Int32) -> BrokerEnding {
    if isLeaving { return .closed }
    if let answer, answer != 0 {
      // 1 is MQTT 3.1.1's code for the same.
      let isVersion = answer == 0x84 || answer == 1
      return isVersion ? .unsupportedVersion : .refused(code: answer)
    }
    if let disconnectCode { return .disconnected(code: disconnectCode) }
    if identity.broker.isEncrypted, answer == nil, !firstError.isEmpty {
      // `net__init_ssl_ctx` reads the files.
      let isOfFile = ["Unable to load", "certificate/key are inconsistent"].contains { firstError.contains($0) }
      if isOfFile { return .unusable(firstError) }
      // A connection that the broker or the network cut off is no refusal.
      return firstError.contains("unexpected eof") ? .unanswered : .insecure(firstError)
    }
    switch result {
    // The broker answers MQTT 5 in a form that libmosquitto cannot read.
    case Code.protocolError, Code.malformed:
      return answer == nil && version == .five ? .unsupportedVersion : .lost("it does not keep to the protocol")
    case Code.lookup: return .unreachable("the name of the host is not known")
    case Code.keepAlive: return .lost("no answer for \(Self.keepAlive) seconds")
    // A reset is a close with something unread.
    case Code.system where answer == nil && hasConnected && number == ECONNRESET: return .unanswered
    case Code.system:
      let text = number == 0 ? "no reason given" : String(cString: strerror(number))
      return answer == nil ? .unreachable(text) : .lost(text)
    default: return answer == nil && hasConnected ? .unanswered : .dropped
    }
  }

  // MARK: Callbacks

  private func setCallbacks(_ client: OpaquePointer) {
    mosquitto_connect_v5_callback_set(client) { _, context, code, _, _ in LinkRun.of(context)?.answered(code) }
    mosquitto_publish_v5_callback_set(client) { _, context, number, code, _ in
      LinkRun.of(context)?.confirmed(number, code)
    }
    mosquitto_subscribe_v5_callback_set(client) { _, context, number, count, codes, _ in
      guard count > 0, let codes else { return }
      LinkRun.of(context)?.subscribed(number, codes[0])
    }
    mosquitto_disconnect_v5_callback_set(client) { _, context, code, _ in
      // The same callback gets libmosquitto's own error numbers, which are smaller (`mosquitto__loop_rc_handle`).
      if code >= 0x80 { LinkRun.of(context)?.disconnectCode = code }
    }
    mosquitto_message_v5_callback_set(client) { _, context, message, _ in
      if let message { LinkRun.of(context)?.received(message.pointee) }
    }
    mosquitto_log_callback_set(client) { _, context, level, text in
      // Lines of other levels contain topics and ids.
      guard level == MOSQ_LOG_ERR, let text else { return }
      LinkRun.of(context)?.failed(String(String(cString: text).prefix(200)))
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> LinkRun? {
    context.map { Unmanaged<LinkRun>.fromOpaque($0).takeUnretainedValue() }
  }

  private func answered(_ code: Int32) {
    answer = code
    if code == 0 { report(.accepted(attempt: attempt)) }
  }

  private func failed(_ text: String) {
    guard firstError.isEmpty else { return }
    let words = "Error: "
    firstError = text.hasPrefix(words) ? String(text.dropFirst(words.count)) : text
    if firstError.hasSuffix(".") { firstError.removeLast() }
  }

  private func confirmed(_ number: Int32, _ code: Int32) {
    // Messages with QoS 0 come here as well, once they are written (`packet__write`).
    guard let token = tokens.removeValue(forKey: number) else { return }
    report(.confirmed(attempt: attempt, token: token, code: code))
  }

  private func subscribed(_ number: Int32, _ code: Int32) {
    guard let topic = subscribing.removeValue(forKey: number), code >= 0x80 else { return }
    report(.notSubscribed(attempt: attempt, topic: topic, code: code))
  }

  private func received(_ message: mosquitto_message) {
    guard let topic = message.topic.map({ String(cString: $0) }), subscriptions.contains(topic),
      message.payloadlen <= 64
    else { return }
    // A flood must not fill the queue of the program.
    let second = time(nil)
    arrivals = (second, arrivals.second == second ? arrivals.count + 1 : 1)
    guard arrivals.count <= Self.messagesPerSecond else { return }
    let payload = [UInt8](UnsafeRawBufferPointer(start: message.payload, count: Int(max(0, message.payloadlen))))
    report(.message(attempt: attempt, topic: topic, payload: payload, isRetained: message.retain))
  }

  /// The results that are told apart.
  private enum Code {
    static let success = Int32(MOSQ_ERR_SUCCESS.rawValue)
    static let protocolError = Int32(MOSQ_ERR_PROTOCOL.rawValue)
    static let malformed = Int32(MOSQ_ERR_MALFORMED_PACKET.rawValue)
    static let payloadSize = Int32(MOSQ_ERR_PAYLOAD_SIZE.rawValue)
    static let oversize = Int32(MOSQ_ERR_OVERSIZE_PACKET.rawValue)
    static let qosNotSupported = Int32(MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue)
    static let lookup = Int32(MOSQ_ERR_EAI.rawValue)
    static let keepAlive = Int32(MOSQ_ERR_KEEPALIVE.rawValue)
    static let system = Int32(MOSQ_ERR_ERRNO.rawValue)
  }
}
