import Names
import Rig
import Settings

@testable import Mqtt
@testable import TagrouteClient

enum Sample {
  static func messages(
    contents: MqttConfiguration.Contents = .no, key: [UInt8]? = nil, discovery: Bool = false,
    tagIDs: MqttConfiguration.TagIDSource = .link, commands: Bool = false,
    liveSeconds: Int = 10
  ) -> MessageSettings {
    MessageSettings(
      station: "kiosk-7", topics: Topics(prefix: "tagroute", station: "kiosk-7"), contents: contents, key: key,
      hasDiscovery: discovery, takesIDsFromLinks: discovery && tagIDs == .link, liveSeconds: liveSeconds,
      hasCommands: commands)
  }

  static func identity(
    _ address: String = "mqtts://broker.example", user: String? = nil, password: String? = nil,
    version: MqttConfiguration.ProtocolVersion = .auto
  ) throws -> BrokerIdentity {
    guard let broker = BrokerAddress(address) else {
      throw KeyFileError(file: address, line: nil, problem: "is no address", remedy: "correct the test")
    }
    return BrokerIdentity(
      broker: broker, version: version, clientID: "tagroute-kiosk-7", user: user, password: password,
      caFile: nil, certificateFile: nil, keyFile: nil, stateTopic: "tagroute/kiosk-7/state")
  }

  static func session(
    _ messages: MessageSettings = messages(), version: MqttConfiguration.ProtocolVersion = .auto
  ) throws -> BrokerSession {
    BrokerSession(identity: try identity(version: version), messages: messages)
  }

  static func tap(
    _ number: UInt64, time: UInt64 = 0, uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A], uri: String = "",
    message: [UInt8] = []
  ) -> TapDescription {
    var tap = TapDescription()
    tap.id = "tap-\(number)"
    tap.sequence = number
    tap.time = time
    tap.uid = uid
    tap.uri = uri
    tap.message = message
    tap.technology = "type-2"
    tap.reader = "\(Names.Daemon.readersPath)/3"
    return tap
  }

  static func moment(_ seconds: Double, wall: UInt64? = nil) -> Moment {
    Moment(clock: .seconds(seconds), wall: wall ?? UInt64(seconds * 1_000_000))
  }
}

extension BrokerSession {
  /// Handles an event with random numbers that do not matter.
  mutating func handle(_ event: BrokerEvent, at now: Moment = Sample.moment(0)) -> [BrokerAction] {
    // Not SystemRandomNumberGenerator: it has no storage, so two tests in parallel look like a race to Thread Sanitizer.
    var random = SeededGenerator(seed: 1)
    return handle(event, at: now, using: &random)
  }

  mutating func connect(at now: Moment = Sample.moment(0)) -> [BrokerAction] {
    _ = handle(.start, at: now)
    return handle(.accepted(attempt: 1), at: now)
  }

  mutating func confirm(_ actions: [BrokerAction], at now: Moment = Sample.moment(0)) {
    for publication in actions.publications where publication.token != 0 {
      _ = handle(.confirmed(attempt: 1, token: publication.token, code: 0), at: now)
    }
  }
}

extension [BrokerAction] {
  var publications: [Publication] {
    compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
  }

  var subscriptions: [String] { flatMap { if case .subscribe(let topics) = $0 { topics } else { [String]() } } }
}
