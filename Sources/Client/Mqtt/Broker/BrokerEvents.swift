import Journal
import Settings
import TagrouteClient

/// The time by both clocks.
struct Moment: Sendable, Hashable {
  /// A clock that only moves forward, from any start.
  var clock: Duration
  /// Microseconds since 1970. It may be set.
  var wall: UInt64
}

/// What happens to a ``BrokerSession``. Events of an earlier attempt are ignored.
enum BrokerEvent: Sendable, Hashable {
  /// The program is ready.
  case start
  /// ``BrokerSession/deadline`` is reached.
  case time
  /// The broker has accepted the connection.
  case accepted(attempt: UInt64)
  /// The attempt or the connection is over; its thread has ended.
  case ended(attempt: UInt64, BrokerEnding)
  /// The broker's answer to a message: 0 or another code below 128 if it has it.
  case confirmed(attempt: UInt64, token: UInt64, code: Int32)
  /// The broker does not take a message of this size. It was sent without contents, or not at all.
  case tooLarge(attempt: UInt64, token: UInt64, isShortened: Bool)
  /// The broker refuses a subscription, with a code of MQTT 5, or 128 of MQTT 3.1.1.
  case notSubscribed(attempt: UInt64, topic: String, code: Int32)
  /// A message on a topic with a subscription.
  case message(attempt: UInt64, topic: String, payload: [UInt8], isRetained: Bool)
  /// Whether an agent owns its name.
  case agent(isPresent: Bool)
  /// The agent has stored another tap.
  case outgoingAvailable
  /// The agent's answers to ``BrokerAction/take(limit:)``.
  case taken([TapDescription]), takingFailed
  /// The agent's answers to ``BrokerAction/acknowledge(_:)``.
  case acknowledged, acknowledgingFailed
  case readers([PublishedReader])
  /// The program has to end.
  case stop
}

/// What a ``BrokerSession`` wants done.
enum BrokerAction: Sendable, Hashable {
  /// Start an attempt. The previous one has ended.
  case connect(attempt: UInt64, MqttVersion)
  /// End the connection; `gracefully` sends DISCONNECT first. ``BrokerEvent/ended(attempt:_:)`` follows.
  case close(gracefully: Bool)
  case publish(Publication)
  case subscribe([String])
  /// Ask the agent for taps.
  case take(limit: Int)
  /// Tell the agent that the broker has these taps.
  case acknowledge([String])
  case perform(StationCommand)
  case log(LogLevel, String)
}

enum MqttVersion: Sendable, Hashable {
  case five
  case threeOneOne
}

/// How an attempt to connect, or a connection, has ended.
enum BrokerEnding: Sendable, Hashable {
  /// The broker does not speak this version of MQTT.
  case unsupportedVersion
  /// The broker has closed the connection instead of answering to CONNECT. RabbitMQ 3 does so with MQTT 5.
  case unanswered
  /// The broker's answer to CONNECT: a code of MQTT 5, or of MQTT 3.1.1 (1 to 5).
  case refused(code: Int32)
  /// The broker has ended the connection, with a code of MQTT 5.
  case disconnected(code: Int32)
  /// The broker did not accept a message on this topic, with a code of MQTT 5.
  case notAccepted(topic: String, code: Int32)
  /// There is no connection: the name, the network, or the port. The text is the system's.
  case unreachable(String)
  /// TLS failed. The text is OpenSSL's.
  case insecure(String)
  /// A file with a certificate or a key cannot be used.
  case unusable(String)
  /// The broker has closed the connection without a reason. Mosquitto 2.0.11 does so if another client has connected
  /// with the same id.
  case dropped
  /// The connection is lost. The text has the reason.
  case lost(String)
  /// This side has closed the connection.
  case closed

  /// Whether another attempt soon has no chance: a person has to change something first.
  var isRefusal: Bool {
    switch self {
    case .refused(let code): ![3, 0x88, 0x89, 0x97, 0x9F].contains(code)
    case .disconnected(let code): [0x87, 0x8E, 0x98].contains(code)
    case .notAccepted, .insecure, .unusable: true
    case .unsupportedVersion, .unanswered, .unreachable, .dropped, .lost, .closed: false
    }
  }

  /// The reason and the fix, for a person.
  func reason(for identity: BrokerIdentity) -> String {
    let broker = "\(identity.broker)"
    switch self {
    case .unsupportedVersion:
      return identity.version == .auto
        ? "\(broker) does not support MQTT 5 or 3.1.1: name another broker in Broker="
        : "\(broker) does not support MQTT \(identity.version.rawValue): set Version=auto"
    case .unanswered:
      let version = identity.version == .five ? "set Version=auto if it does not know MQTT 5, " : ""
      let scheme = identity.broker.isEncrypted ? "" : ", with mqtts:// if it expects TLS"
      return
        "\(broker) closed the connection without an answer: \(version)check the port in Broker=\(scheme), and read its log"
    case .refused(let code): return Self.refusal(code, identity)
    case .disconnected(0x8E):
      return "another client has connected to \(broker) as \(identity.clientID): give each machine its own Station="
    case .disconnected(let code):
      return "\(broker) ended the connection (\(Self.text(code))): its log has the reason"
    case .notAccepted(let topic, let code):
      return "\(broker) does not accept messages on \(topic) (\(Self.text(code))): correct the broker's access rules"
    case .unreachable(let text):
      return "cannot connect to \(broker) (\(text)): check Broker=, the network, and that the broker runs"
    case .insecure(let text):
      return "TLS with \(broker) failed (\(text)): check CAFile=, the host name and the dates in the certificates, and "
        + "the clock of this machine"
    case .unusable(let text): return "\(text): check CAFile=, CertificateFile= and KeyFile="
    case .dropped:
      return "\(broker) closed the connection: if this repeats, give each machine its own Station=, and read the "
        + "broker's log"
    case .lost(let text): return "the connection to \(broker) was lost (\(text))"
    case .closed: return "the connection to \(broker) was closed"
    }
  }

  /// The reason and the fix for a refused subscription. The connection goes on.
  static func notSubscribed(_ topic: String, code: Int32, to identity: BrokerIdentity) -> String {
    "\(identity.broker) sends no messages on \(topic) (\(text(code))): correct the broker's access rules"
  }

  private static func refusal(_ code: Int32, _ identity: BrokerIdentity) -> String {
    let broker = "\(identity.broker)"
    switch code {
    case 2, 0x85: return "\(broker) refuses the client id \(identity.clientID): change Station= or the broker's rules"
    case 4, 0x86: return "\(broker) refuses the user or the password: correct User= and PasswordFile="
    case 5, 0x87:
      return identity.user == nil && identity.certificateFile == nil
        ? "\(broker) wants to know who connects: add User= and PasswordFile=, or CertificateFile= and KeyFile="
        : "\(broker) does not allow this client to connect: correct User=, PasswordFile= or the broker's access rules"
    case 3, 0x88, 0x89: return "\(broker) is not available now (\(text(code)))"
    default: return "\(broker) refused the connection (\(text(code))): its log has the reason"
    }
  }

  /// The names in MQTT 5, section 2.4, of the codes that people meet.
  private static func text(_ code: Int32) -> String {
    let name: String? =
      switch code {
      case 3, 0x88: "server unavailable"
      case 0x80: "unspecified error"
      case 0x81: "malformed packet"
      case 0x82: "protocol error"
      case 0x87: "not authorized"
      case 0x89: "server busy"
      case 0x8A: "banned"
      case 0x8B: "server shutting down"
      case 0x8D: "keep alive timeout"
      case 0x90: "topic name invalid"
      case 0x93: "receive maximum exceeded"
      case 0x95: "packet too large"
      case 0x96: "message rate too high"
      case 0x97: "quota exceeded"
      case 0x98: "administrative action"
      case 0x9A: "retain not supported"
      case 0x9B: "QoS not supported"
      case 0x9C, 0x9D: "use another server"
      case 0x9F: "connection rate exceeded"
      default: nil
      }
    return name ?? "code \(code)"
  }
}
