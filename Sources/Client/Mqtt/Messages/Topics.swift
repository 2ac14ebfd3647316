import Names
import Settings
import TagrouteClient

struct Topics: Sendable, Hashable {
  /// `PREFIX/STATION`.
  let base: String

  init(prefix: String, station: String) { base = "\(prefix)/\(station)" }

  /// `online` or `offline`, retained.
  var state: String { "\(base)/state" }
  /// Taps that have just been read, each at most once.
  var tap: String { "\(base)/tap" }
  /// All taps, at least once, in order.
  var log: String { "\(base)/log" }
  /// The state of one reader, retained.
  func reader(_ name: String) -> String { "\(base)/reader/\(name)/state" }
  /// What a station's user may send.
  func command(_ name: StationCommand.Name) -> String { "\(base)/command/\(name.rawValue)" }

  /// Home Assistant says `online` here after its start, and then needs the descriptions again.
  static let homeAssistantStatus = "homeassistant/status"
}

/// What the messages of a station look like.
struct MessageSettings: Sendable, Hashable {
  let station: String
  let topics: Topics
  let contents: MqttConfiguration.Contents
  /// The key that replaces UIDs by hashes; nil if UIDs are published.
  let key: [UInt8]?
  let hasDiscovery: Bool
  /// Whether the id in a link of Home Assistant names the tag.
  let takesIDsFromLinks: Bool
  let liveSeconds: Int
  let hasCommands: Bool
}

struct Publication: Sendable, Hashable {
  /// Identifies it in the broker's confirmation. 0 for a message that is not confirmed (QoS 0).
  var token: UInt64 = 0
  var topic: String
  var payload: [UInt8]
  /// Sent in place of a payload that is too large for the broker.
  var shorter: [UInt8]?
  var isRetained = false
  /// After how many seconds the broker drops it; nil for never. MQTT 3.1.1 has no such limit.
  var expiry: UInt32?

  /// At least once, or at most once.
  var qos: UInt8 { token == 0 ? 0 : 1 }
}

/// The state of a reader, for its topic.
struct PublishedReader: Sendable, Hashable {
  /// The last component of its object path.
  let name: String
  /// The JSON for its topic.
  let payload: [UInt8]

  init(name: String, payload: [UInt8]) { (self.name, self.payload) = (name, payload) }

  /// A reader that is absent or failed has its own reason. One that could scan has the daemon's reasons.
  init(_ reader: ReaderStatus, of daemon: DaemonStatus) {
    name = Self.name(ofPath: reader.path)
    let reasons: [String] =
      switch reader.state {
      case "absent", "failed": reader.stateReason.isEmpty ? [] : [reader.stateReason]
      case "ready": daemon.suspendReasons
      default: []
      }
    payload =
      JSONTree.record([
        "state": .string(reader.state), "reasons": .array(reasons.map(JSONTree.string)),
        "name": .string(reader.name),
      ]).bytes
  }

  /// The last component of an object path; empty if it cannot be a level of a topic.
  static func name(ofPath path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    let isName =
      name.utf8.count <= 64
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isName ? String(name) : ""
  }
}

/// What Home Assistant needs to know, by its MQTT discovery.
enum Discovery {
  /// The descriptions of the tag scanner and of the connectivity sensor, without tokens.
  ///
  /// The scanner's schema ignores availability, so the sensor is a second entity of the same device.
  static func publications(_ settings: MessageSettings) -> [Publication] {
    let node = "tagroute_\(settings.station)"
    let device = JSONTree.record([
      "identifiers": .array([.string(node)]), "name": .string("Tagroute \(settings.station)"),
      "manufacturer": .string("Tagroute"), "model": .string("NFC station"), "sw_version": .string(Names.version),
    ])
    let tag = JSONTree.record([
      "topic": .string(settings.topics.tap), "value_template": .string("{{ value_json.tag_id }}"), "device": device,
    ])
    let sensor = JSONTree.record([
      "name": .string("Connection"), "unique_id": .string("\(node)_state"), "device_class": .string("connectivity"),
      "entity_category": .string("diagnostic"), "state_topic": .string(settings.topics.state),
      "payload_on": .string("online"), "payload_off": .string("offline"), "device": device,
    ])
    return [
      Publication(topic: "homeassistant/tag/\(node)/tag/config", payload: tag.bytes, isRetained: true),
      Publication(topic: "homeassistant/binary_sensor/\(node)/state/config", payload: sensor.bytes, isRetained: true),
    ]
  }
}

/// What the broker's clients may ask of a station.
enum StationCommand: Sendable, Hashable {
  /// Keep scanning off, or no longer.
  case scan(isOn: Bool)
  /// Show which machine this is.
  case identify

  /// The last level of the topic.
  enum Name: String, CaseIterable {
    case scan
    case identify
  }

  /// In bytes. The longest valid payload has three.
  private static let maximumPayload = 16

  /// Nil for any other topic, and for a payload that is unknown or too long. A retained message is no command: it would
  /// be carried out again at each connection.
  init?(topic: String, payload: [UInt8], isRetained: Bool, _ topics: Topics) {
    guard !isRetained, payload.count <= Self.maximumPayload,
      let name = Name.allCases.first(where: { topics.command($0) == topic })
    else { return nil }
    switch (name, String(decoding: payload, as: UTF8.self)) {
    case (.identify, _): self = .identify
    case (.scan, "on"): self = .scan(isOn: true)
    case (.scan, "off"): self = .scan(isOn: false)
    case (.scan, _): return nil
    }
  }
}
