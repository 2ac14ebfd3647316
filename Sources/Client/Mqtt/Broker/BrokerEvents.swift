import Journal
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
  /// All readers.
  case readers([ReaderState])
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
