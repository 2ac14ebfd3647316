public import Bus
import Names

/// The status of the agent.
public struct AgentStatus: Sendable, Hashable {
  /// The agent's version, `major.minor.patch`.
  public var version: String
  /// The version of its interfaces; 0 for an agent from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// Whether it runs without a desktop, so that only rules with `Ask=no` act.
  public var headless = false
  /// Whether the daemon gives it the tags of this session's seat.
  public var registered: Bool
  /// Why the daemon has not accepted it; nil if the agent does not report that.
  public var registrationError: RegistrationError?
  /// The error in the latest `agent.conf`; empty if there is none. With an error, the previous one stays in force.
  public var configurationError = ""
  /// When the `agent.conf` in force was read, in microseconds since 1970; nil if the agent does not report it.
  public var configurationTime: UInt64?
  /// The taps that wait to be sent to an MQTT broker; nil if the agent does not report them.
  public var outgoing: Outgoing?

  /// The state of the agent's outbox.
  public struct Outgoing: BusRecord, Sendable, Hashable {
    /// Whether new taps wait to be sent, because there is an `mqtt.conf`.
    public var on = false
    /// How many taps wait.
    public var waiting: UInt32 = 0
    /// How many taps were removed before they were sent. This number never goes down.
    public var dropped: UInt64 = 0
    /// When the tap was read that was stored first, in microseconds since 1970; nil if none waits.
    public var oldest: UInt64?

    package init() {}

    package static let fields: [BusField<Self>] = [
      .flag("on", \.on), .number("waiting", \.waiting), .number("dropped", \.dropped), .number("oldest", \.oldest),
    ]

    /// Whether there is anything to report about it.
    package var isOfInterest: Bool { on || waiting > 0 || dropped > 0 }
  }

  /// The daemon's reply to an agent that tried to register.
  public struct RegistrationError: Sendable, Hashable {
    /// The error's name, such as `org.tagroute.Error.NotASession`; empty if there is no error.
    public var name: String
    /// A message for a person; untrusted.
    public var message: String

    /// Nil if the value is not a `RegistrationError`.
    init?(_ value: Value?) {
      let words = value?.asStructure?.compactMap(\.asString) ?? []
      guard words.count == 2 else { return nil }
      self.init(name: words[0], message: words[1])
    }

    init(name: String, message: String) { (self.name, self.message) = (name, message) }

    /// Whether there is no error: the daemon has accepted the agent, or has not replied yet.
    public var isNone: Bool { name.isEmpty }
  }
}

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
