/// When to connect to a card that cannot be connected to at once. Each limit is per placement, but the attempts begin
/// again when the obstacle is gone.
struct CardApproach: Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The pauses between the attempts to connect to a card that another program has exclusively. After the last attempt
  /// the card is left to that program.
  static let sharingPauses: [Duration] = [.milliseconds(700), .milliseconds(1300)]
  /// The pause before each attempt to give power to a card that has none. It may still be moving.
  static let powerPause = Duration.milliseconds(200)
  /// The attempts to give a card power.
  static let powerAttempts = 2

  /// When to connect; nil for at once.
  private(set) var notBefore: Instant?
  /// Whether the card is left to another program: all attempts have failed, and the next one waits for `hurry()`.
  private(set) var isOver = false
  private var refusals = 0
  private var powerFailures = 0

  /// The card has no power.
  mutating func awaitPower(at now: Instant) { notBefore = now + Self.powerPause }

  /// An attempt has failed, because another program has the card. Returns whether there is another attempt.
  mutating func wasRefused(at now: Instant) -> Bool {
    isOver = refusals >= Self.sharingPauses.count
    guard !isOver else { return false }
    notBefore = now + Self.sharingPauses[refusals]
    refusals += 1
    return true
  }

  /// An attempt has failed, because the card gets no power. Returns whether there is another attempt.
  mutating func wasMute(at now: Instant) -> Bool {
    powerFailures += 1
    guard powerFailures < Self.powerAttempts else { return false }
    notBefore = now + Self.powerPause
    return true
  }

  /// The obstacle is gone.
  mutating func hurry() { (notBefore, isOver, refusals) = (nil, false, 0) }
}
