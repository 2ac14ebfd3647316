public import Bus
import Names

/// The state of `tagroute-mqtt`, the program that sends taps to an MQTT broker (`org.tagroute.Mqtt1`).
public struct MqttStatus: Sendable, Hashable, Encodable {
  /// Its version, `major.minor.patch`.
  public var version = ""
  /// The version of its interfaces; 0 if it does not report one.
  public var interfaceVersion: UInt32 = 0
  /// `waiting`, `connecting` or `connected`. Later versions may add values.
  public var state = ""
  /// Why it is in that state, and how to fix it, for a person; may be empty. Untrusted, like `broker` and `station`.
  public var stateReason = ""
  /// The URL of the broker, without user and password.
  public var broker = ""
  /// The name of this station.
  public var station = ""
  /// How many taps the broker has acknowledged since the program started.
  public var sent: UInt64 = 0

  /// The keys in JSON.
  enum CodingKeys: String, CodingKey {
    case version, state, stateReason, broker, station, sent
  }

  /// Whether it has a connection to the broker.
  public var isConnected: Bool { state == "connected" }

  package init() {}

  /// Gets the status. Does not start the program.
  ///
  /// - Parameters:
  ///   - connection: a connection to the session bus.
  ///   - timeout: how long the program has to reply.
  /// - Returns: nil if it is not running.
  /// - Throws: `BusError`.
  public static func current(
    _ connection: Connection, timeout: Duration = .seconds(25)
  ) async throws(BusError) -> MqttStatus? {
    do throws(BusError) {
      let reply = try await connection.call(
        Names.Mqtt.busName, try ObjectPath(Names.Mqtt.path), "org.freedesktop.DBus.Properties", "GetAll",
        [.string(Names.Mqtt.interface)], timeout: timeout, autoStart: false)
      let properties = reply.first?.asDictionary ?? [:]
      var status = MqttStatus()
      status.version = properties["Version"]?.asString ?? ""
      status.interfaceVersion = properties["InterfaceVersion"]?.asUInt32 ?? 0
      status.state = properties["State"]?.asString ?? ""
      status.stateReason = properties["StateReason"]?.asString ?? ""
      status.broker = properties["Broker"]?.asString ?? ""
      status.station = properties["Station"]?.asString ?? ""
      status.sent = properties["Sent"]?.asUInt64 ?? 0
      return status
    } catch {
      guard error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner else {
        throw error
      }
      return nil
    }
  }
}
