import Bus

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

    package static var fields: [BusField<Self>] {
      [
        .flag("on", \.on), .number("waiting", \.waiting), .number("dropped", \.dropped), .number("oldest", \.oldest),
      ]
    }

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
