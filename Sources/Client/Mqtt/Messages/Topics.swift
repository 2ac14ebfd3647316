import Settings

/// The topics of a station.
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

/// A message for the broker.
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
