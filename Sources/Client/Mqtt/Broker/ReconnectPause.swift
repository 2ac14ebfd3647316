import EventLoop

/// The pause before the next attempt to connect. Pure.
struct ReconnectPause: Sendable, Hashable {
  /// The first pause is at most this long.
  static let shortest = Duration.seconds(1)
  /// No pause is longer. After a refusal, none is shorter: a broker may lock out who tries a wrong password often.
  static let longest = Duration.seconds(120)
  /// A connection that lasted for this long was a success. One that ends sooner each time is not retried in a loop.
  static let settled = Duration.seconds(30)

  private var backoff = Backoff(from: shortest, to: longest)

  /// The pause. It is a random part of the back-off ("full jitter"), so that stations that have lost their broker
  /// together do not come back together.
  mutating func next(
    after ending: BrokerEnding, connectedFor lifetime: Duration?, using random: inout some RandomNumberGenerator
  ) -> Duration {
    if let lifetime, lifetime >= Self.settled { backoff.reset() }
    let limit = backoff.next()
    guard !ending.isRefusal else { return Self.longest }
    return .milliseconds(Int64.random(in: 0...limit.components.seconds * 1000, using: &random))
  }
}
